/** Draws lines one by one if pixels can show them apart, else all at once. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import type { LinesJob, ShowLines } from "./lines-job.ts";
import { paintCells } from "./paint-cells.ts";
import { paintCurves } from "./paint-curves.ts";

/** The least pixels per token to draw lines one by one. */
const APART_FROM = 2;

export const areApart = ({ rows, columns, height }: LinesJob): boolean =>
  height >= APART_FROM * Math.max(rows.length, columns.length);

export const paintLines = (matrices: readonly AttentionMatrix[], job: LinesJob, show: ShowLines) =>
  (areApart(job) ? paintCurves : paintCells)(matrices, job, show);
