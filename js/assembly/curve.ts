/**
 * Mirrors src/kernels/curve.ts, four pixels of a column at a time. Red, green, blue and opacity are
 * the four lanes of a colour.
 */

const SHARPEST: f32 = 1e-3;

/** The columns that are drawn at once, so few that their sums stay in the processor's cache. */
const BAND: i32 = 16;

/** The bytes per column of bends, and per curve. */
const BENDS: usize = 12;
const CURVE: usize = 32;

export function curves(
  sums: usize,
  width: i32,
  height: i32,
  bends: usize,
  list: usize,
  count: i32,
  cover: f32,
): void {
  const end = list + <usize>count * CURVE;
  for (let first = 0; first < width; first += BAND) {
    const columns = min(BAND, width - first);
    for (let at = list; at < end; at += CURVE) {
      curve(sums, columns, height, bends, at, cover);
    }
    sums += (<usize>(BAND * height)) << 4;
    bends += <usize>BAND * BENDS;
  }
}

/**
 * Numbers of four columns, computed at once for columns that are drawn one by one: the first row and
 * the end of the rows; how far below the beginning of the upper edge the first row and the lower edge
 * begin; the height of an edge; and 1 / move.
 */
const COLUMNS: usize = memory.data(96, 16);

function curve(sums: usize, width: i32, height: i32, bends: usize, at: usize, cover: f32): void {
  const from = v128.load32_splat(at);
  const drop = f32x4.sub(v128.load32_splat(at, 4), from);
  const thickness = v128.load32_splat(at, 8);
  const opacity = v128.load32_splat(at, 12);
  const color = f32x4.mul(v128.load(at, 16), opacity);
  const covers = f32x4.mul(opacity, f32x4.splat(cover));
  const column = height << 4;
  for (let x = 0; x < width; x += 4, bends += 4 * BENDS) {
    const one = v128.load(bends);
    const two = v128.load(bends, 16);
    const three = v128.load(bends, 32);
    const eased = v128.shuffle<f32>(v128.shuffle<f32>(one, two, 0, 3, 6, 6), three, 0, 1, 2, 5);
    const slopes = v128.shuffle<f32>(v128.shuffle<f32>(one, two, 1, 4, 7, 7), three, 0, 1, 2, 6);
    const moved = v128.shuffle<f32>(v128.shuffle<f32>(one, two, 2, 5, 5, 5), three, 0, 1, 4, 7);
    const middle = f32x4.add(from, f32x4.mul(drop, eased));
    const slope = f32x4.mul(drop, slopes);
    const extent = f32x4.mul(
      thickness,
      f32x4.sqrt(f32x4.add(f32x4.splat(1), f32x4.mul(slope, slope))),
    );
    const move = f32x4.add(f32x4.abs(f32x4.mul(drop, moved)), f32x4.splat(SHARPEST));
    const edge = f32x4.pmin(move, extent);
    const outer = f32x4.mul(f32x4.add(extent, move), f32x4.splat(0.5));
    const top = f32x4.floor(f32x4.sub(middle, outer));
    const bottom = f32x4.pmin(f32x4.splat(<f32>height), f32x4.ceil(f32x4.add(middle, outer)));
    v128.store(COLUMNS, i32x4.trunc_sat_f32x4_s(top));
    v128.store(COLUMNS, i32x4.trunc_sat_f32x4_s(bottom), 16);
    v128.store(COLUMNS, f32x4.add(f32x4.sub(top, middle), outer), 32);
    v128.store(COLUMNS, f32x4.sub(f32x4.add(outer, outer), edge), 48);
    v128.store(COLUMNS, edge, 64);
    v128.store(COLUMNS, f32x4.div(f32x4.splat(1), move), 80);
    const end = COLUMNS + (min(4, width - x) << 2);
    for (let lane = COLUMNS; lane < end; lane += 4, sums += column) {
      let y = load<i32>(lane);
      const last = load<i32>(lane, 16);
      let above = f32x4.add(f32x4(1, 2, 3, 4), v128.load32_splat(lane, 32));
      const between = v128.load32_splat(lane, 48);
      const edges = v128.load32_splat(lane, 64);
      const most = v128.load32_splat(lane, 80);
      let before = f32x4.splat(0);
      for (let at = sums + (y << 4); y < last; y += 4, at += 64) {
        const below = f32x4.sub(above, between);
        const until = f32x4.sub(covered(above, edges), covered(below, edges));
        const gained = f32x4.sub(until, v128.shuffle<f32>(before, until, 3, 4, 5, 6));
        // Rows below the curve get nothing: rounding could leave a little there.
        const inside = i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(last - y));
        const amounts = v128.and(f32x4.mul(gained, most), inside);
        const first = v128.shuffle<f32>(amounts, amounts, 0, 0, 0, 0);
        const second = v128.shuffle<f32>(amounts, amounts, 1, 1, 1, 1);
        const third = v128.shuffle<f32>(amounts, amounts, 2, 2, 2, 2);
        const fourth = v128.shuffle<f32>(amounts, amounts, 3, 3, 3, 3);
        if (y >= 0 && y + 4 <= height) {
          add(at, color, covers, first);
          add(at + 16, color, covers, second);
          add(at + 32, color, covers, third);
          add(at + 48, color, covers, fourth);
        } else {
          if (within(y, last)) add(at, color, covers, first);
          if (within(y + 1, last)) add(at + 16, color, covers, second);
          if (within(y + 2, last)) add(at + 32, color, covers, third);
          if (within(y + 3, last)) add(at + 48, color, covers, fourth);
        }
        before = until;
        above = f32x4.add(above, f32x4.splat(4));
      }
    }
  }
}

function within(y: i32, last: i32): bool {
  return y >= 0 && y < last;
}

function add(at: usize, color: v128, covers: v128, amount: v128): void {
  const below = v128.load(at);
  const change = f32x4.sub(color, f32x4.mul(covers, below));
  v128.store(at, f32x4.add(below, f32x4.mul(change, amount)));
}

/** `covered` of src/kernels/curve.ts times `edge`, without its division. */
function covered(y: v128, edge: v128): v128 {
  const rising = f32x4.pmin(f32x4.pmax(y, f32x4.splat(0)), edge);
  const whole = f32x4.sub(f32x4.pmax(y, edge), edge);
  return f32x4.add(f32x4.mul(f32x4.mul(rising, rising), f32x4.splat(0.5)), f32x4.mul(whole, edge));
}
