import type { Kernels } from "./kernels.ts";

/** The numbers per column of the bends, and per curve, that `curves` takes. */
export const BENDS = 3;
export const CURVE = 8;

/** Added to the height of an edge, so that it can be divided by. */
const SHARPEST = 1e-3;

export const curves: Kernels["curves"] = (sums, height, bends, list, cover) => {
  for (let at = 0; at < list.length; at += CURVE) {
    curve(sums, height, bends, list.subarray(at, at + CURVE), cover);
  }
};

function curve(
  sums: Float32Array,
  height: number,
  bends: Float32Array,
  [from, to, thickness, opacity, red, green, blue]: Float32Array,
  cover: 0 | 1,
): void {
  const width = bends.length / BENDS;
  const drop = to - from;
  for (let x = 0; x < width; x++) {
    const middle = from + drop * bends[BENDS * x];
    const slope = drop * bends[BENDS * x + 1];
    const move = Math.abs(drop * bends[BENDS * x + 2]) + SHARPEST;
    // A band of this thickness, averaged while it moves up or down: a trapezoid, with edges above and
    // below.
    const extent = thickness * Math.sqrt(1 + slope * slope);
    const edge = Math.min(extent, move);
    const outer = (extent + move) / 2;
    const inner = outer - edge;
    const most = (opacity * edge) / move;
    const first = Math.max(Math.floor(middle - outer), 0);
    const last = Math.min(middle + outer, height);
    let before = covered(first - middle + outer, edge) - covered(first - middle - inner, edge);
    for (let y = first; y < last; y++) {
      const below = y + 1 - middle;
      const until = covered(below + outer, edge) - covered(below - inner, edge);
      const amount = (until - before) * most;
      const at = (x * height + y) * 4;
      before = until;
      sums[at] += amount * (red - cover * sums[at]);
      sums[at + 1] += amount * (green - cover * sums[at + 1]);
      sums[at + 2] += amount * (blue - cover * sums[at + 2]);
      sums[at + 3] += amount * (1 - cover * sums[at + 3]);
    }
  }
}

/** The area until y under an edge that rises from 0 at 0 to 1 at `edge`, and stays there. */
function covered(y: number, edge: number): number {
  const rising = Math.min(Math.max(y, 0), edge);
  return (rising * rising) / (2 * edge) + Math.max(y, edge) - edge;
}
