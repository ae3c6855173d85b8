/** Made by `inline.mjs`. */

declare module "inline:kernels" {
  /** WebAssembly in base64. */
  const kernels: string;
  export default kernels;
}
