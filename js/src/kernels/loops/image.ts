import { f32, f32x4, type i32, type usize, v128 } from "./builtins.ts";
import { LANES, storeByte, storeBytes } from "./lanes.ts";

/** See `Kernels`. */
export function image(sums: usize, count: i32, out: usize, stride: i32, light: f32): void {
  const step: usize = stride << 2;
  for (let at = sums, end = sums + (count << 4); at < end; at += 16, out += step) {
    const opacity = f32.load(at + 12);
    if (!(opacity > 0)) continue;
    for (let part: usize = 0; part < 4; part += LANES) {
      storeBytes(out + part, f32x4.div(v128.load(at + (part << 2)), f32x4.splat(opacity)));
    }
    const shown = light * opacity;
    storeByte(out + 3, shown < 1 ? 255 * shown : 255);
  }
}
