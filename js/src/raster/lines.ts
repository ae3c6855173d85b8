/** All lines from queries to keys, as one picture. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import type { LinesJob } from "./lines-job.ts";
import { rasterize } from "./run.ts";

export type { LinesJob } from "./lines-job.ts";
export type { Ink } from "./mixer.ts";

/**
 * Draw the lines of several matrices. Returns what stops the work.
 *
 * @param show called with what is there so far, and at last with all of it and the share of attention
 * that is drawn, in percent.
 */
export const linesPicture = (
  matrices: readonly AttentionMatrix[],
  job: LinesJob,
  show: (image: ImageData, share: number | null) => void,
): (() => void) =>
  rasterize("lines", matrices, job, (pixels, share) => {
    show(new ImageData(pixels, job.width, job.height), share);
  });
