/** Draws lines one by one if pixels can show them apart, else all at once. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import type { LinesJob, ShowLines } from "./lines-job.ts";
import { paintCells } from "./paint-cells.ts";
import { paintCurves } from "./paint-curves.ts";

/** The least pixels per token to draw lines one by one. */
const APART_FROM = 2;

export function paintLines(matrices: readonly AttentionMatrix[], job: LinesJob, show: ShowLines) {
  const { rows, columns, height } = job;
  const apart = height >= APART_FROM * Math.max(rows.length, columns.length);
  return (apart ? paintCurves : paintCells)(matrices, job, show);
}
