/** Strokes lines, and curves from queries to keys one by one. */

import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import { lightFor } from "../../kernels/shape.ts";
import type { Painter } from "../../painting/painter.ts";
import type { LinesJob } from "../../raster/lines-job.ts";
import type { Ink } from "../../raster/mixer.ts";
import { drawCurves } from "../../raster/paint-curves.ts";

/** Stroke a curve, level at both ends, with control points at a third and two thirds. */
export function strokeCurve(
  painter: Painter,
  left: number,
  from: number,
  right: number,
  to: number,
): void {
  const third = (right - left) / 3;
  painter.beginPath();
  painter.moveTo(left, from);
  painter.bezierCurveTo(left + third, from, right - third, to, right, to);
  painter.stroke();
}

/** Stroke straight lines, each from a point to another. */
export function strokeLines(
  painter: Painter,
  ...ends: readonly (readonly [x: number, y: number, toX: number, toY: number])[]
): void {
  painter.beginPath();
  for (const [x, y, toX, toY] of ends) {
    painter.moveTo(x, y);
    painter.lineTo(toX, toY);
  }
  painter.stroke();
}

/** Stroke all lines of a job, for a figure. */
export function paintCurves(
  painter: Painter,
  matrices: readonly AttentionMatrix[],
  job: LinesJob,
): void {
  const curves: (readonly [number, number, number, Ink, number])[] = [];
  let covered = 0;
  drawCurves(matrices, job, (from, to, thickness, ink, opacity) => {
    covered += thickness * opacity * Math.hypot(1, (to - from) / job.width);
    curves.push([from, to, thickness, ink, opacity]);
  });
  const light = lightFor(covered / job.height);
  for (const [from, to, thickness, ink, opacity] of curves) {
    painter.strokeStyle = `rgb(${ink.join(" ")} / ${light * opacity})`;
    painter.lineWidth = thickness;
    strokeCurve(painter, 0, from, job.width, to);
  }
}
