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
  /** From one colour at the left end to another at the right. */
  const fading = (start: number, stop: number, from: string, to: string): CanvasGradient => {
    const gradient = painter.createLinearGradient(left, start, right, stop);
    gradient.addColorStop(0, from);
    gradient.addColorStop(1, to);
    return gradient;
  };
  analysis.explanations.value.forEach((one, second) => {
    const from = places.query[one.query];
    if (from < 0) return;
    painter.setLineDash(second ? [5, 4] : []);
    for (let to = 0; to < shown.keys.length; to++) {
      const value = one.shown.weights[shown.keys[to]];
      if (value < FAINTEST || !(drawn(from) || drawn(to))) continue;
      const [start, stop] = [centre(from), centre(to)];
      const [full, clear] = [value, value * FADED].map((part) => alpha(palette.positive, part));
      painter.strokeStyle =
        drawn(from) && drawn(to)
          ? full
          : fading(start, stop, drawn(from) ? full : clear, drawn(to) ? full : clear);
      painter.beginPath();
      painter.moveTo(left, start);
      painter.bezierCurveTo(middle, start, middle, stop, right, stop);
      painter.stroke();
    }
  });
  painter.setLineDash([]);
}
