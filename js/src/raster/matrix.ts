/** A matrix as the pixels that it has on the screen: the largest weight in each. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import type { MatrixJob } from "./paint-matrix.ts";
import { rasterize } from "./run.ts";

export type { MatrixJob } from "./paint-matrix.ts";

/**
 * Weights [height, width], each the largest of the cells in a pixel. Returns what stops the work.
 *
 * @param show called with what is there so far, and at last with all of it.
 */
export const matrixPicture = (
  matrix: AttentionMatrix,
  job: MatrixJob,
  show: (largest: Float32Array, done: boolean) => void,
): (() => void) => rasterize("matrix", [matrix], job, show);
