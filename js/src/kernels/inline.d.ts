/** The modules that `inline.mjs` builds. */

declare module "inline:kernels" {
  /** WebAssembly: each byte is the code of a character less 32. */
  const kernels: string;
  export default kernels;
}
