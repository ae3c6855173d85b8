import { type bool, f32, f32x4, type i32, min, type usize, v128 } from "./builtins.ts";
import {
  first,
  firstLanes,
  four,
  fourth,
  LANES,
  lanesBefore,
  partOf,
  places,
  SCRATCH,
  second,
  third,
  whole,
} from "./lanes.ts";

/** Added to the height of an edge, so that it can be divided by. */
const SHARPEST: f32 = 1e-3;

/** The columns that are drawn at once, so few that their sums stay in the processor's cache. */
const BAND: i32 = 16;

/** The bytes per curve. */
const CURVE: usize = 32;

/** See `Kernels`. */
export function curves(
  sums: usize,
  width: i32,
  height: i32,
  bends: usize,
  columns: i32,
  list: usize,
  count: i32,
  cover: f32,
): void {
  const end = list + <usize>count * CURVE;
  for (let at = 0; at < width; at += BAND) {
    const band = min(BAND, width - at);
    for (let one = list; one < end; one += CURVE) {
      curve(sums, band, height, bends, columns << 2, one, cover);
    }
    sums += (BAND * height) << 4;
    bends += BAND << 2;
  }
}

/**
 * Numbers of some columns, computed at once for columns that are drawn one by one: the first row and
 * the end of the rows; how far below the beginning of the upper edge the first row and the lower edge
 * begin; and the height of an edge, and 1 / move.
 */
const FIRST: usize = SCRATCH;
const END: usize = FIRST + 16;
const ABOVE: usize = END + 16;
const BETWEEN: usize = ABOVE + 16;
const EDGE: usize = BETWEEN + 16;
const MOST: usize = EDGE + 16;
/** The colour times the opacity. */
const INK: usize = MOST + 16;

function curve(
  sums: usize,
  width: i32,
  height: i32,
  bends: usize,
  plane: usize,
  at: usize,
  cover: f32,
): void {
  const from = v128.load32_splat(at);
  const drop = f32x4.sub(v128.load32_splat(at + 4), from);
  const thickness = v128.load32_splat(at + 8);
  const opacity = v128.load32_splat(at + 12);
  for (let part: usize = 0; part < 16; part += 4 * LANES) {
    v128.store(INK + part, f32x4.mul(v128.load(at + 16 + part), opacity));
  }
  const ink = four(INK);
  const covers = f32x4.mul(opacity, f32x4.splat(cover));
  const column: usize = height << 4;
  for (let x = 0; x < width; x += LANES, bends += 4 * LANES) {
    const middle = f32x4.add(from, f32x4.mul(drop, v128.load(bends)));
    const slope = f32x4.mul(drop, v128.load(bends + plane));
    // A band of this thickness, averaged while it moves up or down: a trapezoid, with edges above and
    // below.
    const extent = f32x4.mul(
      thickness,
      f32x4.sqrt(f32x4.add(f32x4.splat(1), f32x4.mul(slope, slope))),
    );
    const move = f32x4.add(
      f32x4.abs(f32x4.mul(drop, v128.load(bends + 2 * plane))),
      f32x4.splat(SHARPEST),
    );
    const edge = f32x4.pmin(move, extent);
    const outer = f32x4.mul(f32x4.add(extent, move), f32x4.splat(0.5));
    const top = f32x4.floor(f32x4.sub(middle, outer));
    v128.store(FIRST, top);
    v128.store(END, f32x4.pmin(f32x4.splat(<f32>height), f32x4.ceil(f32x4.add(middle, outer))));
    v128.store(ABOVE, f32x4.add(f32x4.sub(top, middle), outer));
    v128.store(BETWEEN, f32x4.sub(f32x4.add(outer, outer), edge));
    v128.store(EDGE, edge);
    v128.store(MOST, f32x4.div(f32x4.splat(1), move));
    const end: usize = min(LANES, width - x) << 2;
    for (let own: usize = 0; own < end; own += 4, sums += column) {
      let y = whole(f32.load(FIRST + own));
      const last = whole(f32.load(END + own));
      let above = f32x4.add(places(), v128.load32_splat(ABOVE + own));
      const between = v128.load32_splat(BETWEEN + own);
      const edges = v128.load32_splat(EDGE + own);
      const share = v128.load32_splat(MOST + own);
      let before = f32x4.splat(0);
      for (let to = sums + (y << 4); y < last; y += LANES, to += 16 * LANES) {
        const below = f32x4.sub(above, between);
        const until = f32x4.sub(covered(above, edges), covered(below, edges));
        const gained = f32x4.sub(until, lanesBefore(before, until));
        // Rows below the curve get nothing: rounding could leave a little there.
        const amounts = firstLanes(f32x4.mul(gained, share), last - y);
        if (y >= 0 && y + LANES <= height) {
          paint(to, ink, covers, first(amounts));
          if (LANES > 1) {
            paint(to + 16, ink, covers, second(amounts));
            paint(to + 32, ink, covers, third(amounts));
            paint(to + 48, ink, covers, fourth(amounts));
          }
        } else if (LANES > 1) {
          if (isWithin(y, last)) paint(to, ink, covers, first(amounts));
          if (isWithin(y + 1, last)) paint(to + 16, ink, covers, second(amounts));
          if (isWithin(y + 2, last)) paint(to + 32, ink, covers, third(amounts));
          if (isWithin(y + 3, last)) paint(to + 48, ink, covers, fourth(amounts));
        }
        before = until;
        above = f32x4.add(above, f32x4.splat(<f32>LANES));
      }
    }
  }
}

function isWithin(y: i32, last: i32): bool {
  return y >= 0 && y < last;
}

/** Add a share of the curve to a pixel. */
function paint(at: usize, ink: v128, covers: v128, amount: v128): void {
  for (let part: usize = 0; part < 16; part += 4 * LANES) {
    const below = v128.load(at + part);
    const change = f32x4.sub(partOf(ink, part), f32x4.mul(covers, below));
    v128.store(at + part, f32x4.add(below, f32x4.mul(change, amount)));
  }
}

/** The area until y under an edge that rises from 0 at 0 to 1 at `edge`, and stays there; times `edge`. */
function covered(y: v128, edge: v128): v128 {
  const rising = f32x4.pmin(f32x4.pmax(y, f32x4.splat(0)), edge);
  const over = f32x4.sub(f32x4.pmax(y, edge), edge);
  return f32x4.add(f32x4.mul(f32x4.mul(rising, rising), f32x4.splat(0.5)), f32x4.mul(over, edge));
}
