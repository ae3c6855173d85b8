/**
 * The hot loops, in what TypeScript and AssemblyScript have in common. Arrays are passed as addresses
 * in bytes; `Kernels` says what each does.
 */

export { curves } from "./curves.ts";
export { dots } from "./dots.ts";
export { image } from "./image.ts";
export { free } from "./lanes.ts";
export { merge } from "./merge.ts";
export { mix } from "./mix.ts";
export { project } from "./project.ts";
export { exponentials, largest, multiply, weights } from "./softmax.ts";
export { turn } from "./turn.ts";
