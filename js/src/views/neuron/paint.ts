/** Paints the neuron view: strips, bars, curves and marks. */

import { alpha } from "../../styles/palette.ts";
import { paintBars } from "./bars.ts";
import { type Layout, MARKS } from "./layout.ts";
import { paintMarks } from "./marks.ts";
import type { QueryAnalysis } from "./query-analysis.ts";
import { type Picture, paintStrips } from "./strips.ts";

export function paintNeurons(canvas: Picture, analysis: QueryAnalysis): void {
  paintFocus(canvas, analysis);
  paintStrips(canvas, analysis);
  paintMarks(canvas, analysis);
  paintBars(canvas, analysis, canvas.layout);
  paintCurves({ ...canvas, curves: canvas.layout.curves }, analysis);
}

function paintFocus(
  { painter, layout, rowHeight, palette }: Picture,
  analysis: QueryAnalysis,
): void {
  const { value: key } = analysis.focusKey;
  const row = key === null ? -1 : analysis.places.key[key];
  if (row < 0) return;
  // A frame, since a tinted background would change the colours of the vectors.
  painter.strokeStyle = palette.accent;
  painter.lineWidth = 1.5;
  const x = layout.keyLabels + 1;
  painter.strokeRect(x, MARKS + row * rowHeight + 1, layout.weights.end - x - 1, rowHeight - 2);
}

/** The faintest curve: fainter ones are invisible. */
const FAINTEST = 0.01;

/** The end of a curve beyond the rows reached, in rows, and its opacity there. */
const BEYOND = 1;
const FADED = 0.25;

/** The arguments of painting curves. */
type Curves = Pick<Picture, "painter" | "rowHeight" | "palette" | "reached"> & {
  readonly curves: Layout["curves"];
};

/**
 * Paint a curve from the query to each key, as opaque as the weight; dashed from the compared
 * query. If one end is not among the rows reached, the curve fades out towards it.
 */
export function paintCurves(
  { painter, curves, rowHeight, palette, reached }: Curves,
  analysis: QueryAnalysis,
): void {
  const { shown, places } = analysis;
  const [left, right] = curves;
  const middle = (left + right) / 2;
  const [first, end] = reached;
  const drawn = (row: number) => row >= first && row < end;
  const within = (row: number) => Math.max(first - BEYOND, Math.min(end - 1 + BEYOND, row));
  const centre = (row: number) => MARKS + (within(row) + 0.5) * rowHeight;
  painter.lineWidth = 2.5;
  [analysis.explanation.value, analysis.comparison.value].forEach((one, second) => {
    const from = one ? places.query[one.query] : -1;
    if (!one || from < 0) return;
    painter.setLineDash(second ? [5, 4] : []);
    shown.keys.forEach((key, to) => {
      const value = one.shown.weights[key];
      if (value < FAINTEST || !(drawn(from) || drawn(to))) return;
      const [start, stop] = [centre(from), centre(to)];
      const stroke = alpha(palette.positive, value);
      painter.strokeStyle = drawn(from) && drawn(to) ? stroke : fading(from, to);
      painter.beginPath();
      painter.moveTo(left, start);
      painter.bezierCurveTo(middle, start, middle, stop, right, stop);
      painter.stroke();

      function fading(of: number, at: number): CanvasGradient {
        const gradient = painter.createLinearGradient(left, start, right, stop);
        const clear = alpha(palette.positive, value * FADED);
        gradient.addColorStop(0, drawn(of) ? stroke : clear);
        gradient.addColorStop(1, drawn(at) ? stroke : clear);
        return gradient;
      }
    });
  });
  painter.setLineDash([]);
}
