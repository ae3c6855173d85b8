/** The picture of the neuron view: strips, bars, curves, and what marks them. */

import { alpha } from "../../theme.ts";
import { paintBars } from "./bars.ts";
import type { Facts } from "./facts.ts";
import { MARKS } from "./layout.ts";
import { paintMarks } from "./marks.ts";
import { type Picture, paintStrips } from "./strips.ts";

export function paintNeurons(canvas: Picture, facts: Facts): void {
  paintFocus(canvas, facts);
  paintStrips(canvas, facts);
  paintMarks(canvas, facts);
  paintBars(canvas, facts, canvas.layout);
  paintCurves(canvas, facts);
}

/** The row of the key that is looked at. */
function paintFocus({ target, layout, rowHeight, palette }: Picture, facts: Facts): void {
  const row = facts.shown.keys.indexOf(facts.focusKey.value ?? -1);
  if (row < 0) return;
  // A frame: on a tinted ground the colours of the vectors would mean something else.
  target.strokeStyle = palette.accent;
  target.lineWidth = 1.5;
  const x = layout.keyLabels + 1;
  target.strokeRect(x, MARKS + row * rowHeight + 1, layout.weights.end - x - 1, rowHeight - 2);
}

/** Fainter ones cannot be told from none. */
const FAINTEST = 0.01;

/** From the query to each key, as opaque as the weight; dashed from the query compared with. */
function paintCurves({ target, layout, rowHeight, palette }: Picture, facts: Facts): void {
  const { shown } = facts;
  const [left, right] = layout.curves;
  const middle = (left + right) / 2;
  const centre = (row: number) => MARKS + (row + 0.5) * rowHeight;
  target.lineWidth = 2.5;
  [facts.explanation.value, facts.comparison.value].forEach((one, second) => {
    const from = one ? shown.queries.indexOf(one.query) : -1;
    if (!one || from < 0) return;
    target.setLineDash(second ? [5, 4] : []);
    shown.keys.forEach((key, to) => {
      const value = one.shown.weights[key];
      if (value < FAINTEST) return;
      target.strokeStyle = alpha(palette.positive, value);
      target.beginPath();
      target.moveTo(left, centre(from));
      target.bezierCurveTo(middle, centre(from), middle, centre(to), right, centre(to));
      target.stroke();
    });
  });
  target.setLineDash([]);
}
