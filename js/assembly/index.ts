/** The hot loops of `src/kernels`. Arrays are passed as addresses in bytes. */

export { curves } from "./curve";
export { dots } from "./dots";
export { image } from "./image";
export { merge } from "./merge";
export { mix } from "./mix";
export { project } from "./project";
export { exponentials, largest, multiply, weights } from "./softmax";
export { turn } from "./turn";

/** The first address that the kernels do not use themselves, a multiple of 16. */
export const free: usize = (__heap_base + 15) & ~15;
