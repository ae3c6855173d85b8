/** The modules that `inline.mjs` builds. */

declare module "inline:kernels" {
  /** WebAssembly in base64. */
  const kernels: string;
  export default kernels;
}
