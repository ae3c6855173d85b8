/** The kinds of rasterized pictures: their jobs, results and rasterizers. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import type { LinesJob } from "./lines-job.ts";
import { paintCells } from "./paint-cells.ts";
import { paintCurves } from "./paint-curves.ts";
import { type MatrixJob, paintMatrix } from "./paint-matrix.ts";

interface Jobs {
  readonly lines: LinesJob;
  readonly matrix: MatrixJob;
}

/** The arguments of `show`: the pixels or weights, and how complete they are. */
interface Shown {
  readonly lines: readonly [pixels: Uint8ClampedArray<ArrayBuffer>, share: number | null];
  readonly matrix: readonly [largest: Float32Array<ArrayBuffer>, done: boolean];
}

export type Kind = keyof Jobs;
export type Job<Of extends Kind> = Jobs[Of];
export type Show<Of extends Kind> = (...shown: Shown[Of]) => void;

/** A rasterizer yields often, and shows unfinished pictures from time to time. */
export type Rasterizer<Of extends Kind> = (
  matrices: readonly AttentionMatrix[],
  job: Job<Of>,
  show: Show<Of>,
) => Generator<void>;

/** The least pixels per token to draw lines one by one: below, pixels cannot show them apart. */
const APART_FROM = 2;

export const RASTERIZERS: { readonly [Of in Kind]: Rasterizer<Of> } = {
  lines(matrices, job, show) {
    const apart = job.height >= APART_FROM * Math.max(job.rows.length, job.columns.length);
    return (apart ? paintCurves : paintCells)(matrices, job, show);
  },
  matrix: paintMatrix,
};
