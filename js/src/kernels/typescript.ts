/** The kernels in TypeScript, for pages that forbid WebAssembly. They take any arrays. */

import { curves } from "./curve.ts";
import { dots } from "./dots.ts";
import { image } from "./image.ts";
import type { Kernels } from "./kernels.ts";
import { merge } from "./merge.ts";
import { mix } from "./mix.ts";
import { project } from "./project.ts";
import { exponentials, largest, multiply, weights } from "./softmax.ts";
import { turn } from "./turn.ts";

export const typescript: Kernels = {
  floats: (count) => new Float32Array(count),
  clear() {},
  dots,
  largest,
  exponentials,
  multiply,
  weights,
  mix,
  curves,
  image,
  merge,
  project,
  turn,
};
