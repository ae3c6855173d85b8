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

function curve(sums: usize, width: i32, height: i32, bends: usize, at: usize, cover: f32): void {
  const from = load<f32>(at);
  const drop = load<f32>(at, 4) - from;
  const thickness = load<f32>(at, 8);
  const opacity = load<f32>(at, 12);
  const color = f32x4.mul(v128.load(at, 16), f32x4.splat(opacity));
  const covers = f32x4.splat(opacity * cover);
  const column = height << 4;
  for (let x = 0; x < width; x++, bends += BENDS, sums += column) {
    const middle = from + drop * load<f32>(bends);
    const slope = drop * load<f32>(bends, 4);
    const extent = thickness * sqrt<f32>(1 + slope * slope);
    const move: f32 = abs<f32>(drop * load<f32>(bends, 8)) + SHARPEST;
    const edge = extent < move ? extent : move;
    const outer: f32 = (extent + move) * 0.5;
    const most = f32x4.splat(edge / move);
    const edges = f32x4.splat(edge);
    const half = f32x4.splat(0.5 / edge);
    const bottom = middle + outer;
    const last: i32 = bottom < <f32>height ? <i32>ceil<f32>(bottom) : height;
    let y: i32 = <i32>floor<f32>(middle - outer);
    // The lower borders of the pixels, counted from the beginning of either edge.
    let above = f32x4.add(f32x4(1, 2, 3, 4), f32x4.splat(<f32>y + outer - middle));
    const between = f32x4.splat(outer + outer - edge);
    let before = f32x4.splat(0);
    for (let at = sums + (y << 4); y < last; y += 4, at += 64) {
      const below = f32x4.sub(above, between);
      const until = f32x4.sub(covered(above, edges, half), covered(below, edges, half));
      const amounts = f32x4.mul(
        f32x4.sub(until, v128.shuffle<f32>(before, until, 3, 4, 5, 6)),
        most,
      );
      const first = v128.shuffle<f32>(amounts, amounts, 0, 0, 0, 0);
      const second = v128.shuffle<f32>(amounts, amounts, 1, 1, 1, 1);
      const third = v128.shuffle<f32>(amounts, amounts, 2, 2, 2, 2);
      const fourth = v128.shuffle<f32>(amounts, amounts, 3, 3, 3, 3);
      if (y >= 0 && y + 4 <= last) {
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

function within(y: i32, last: i32): bool {
  return y >= 0 && y < last;
}

function add(at: usize, color: v128, covers: v128, amount: v128): void {
  const below = v128.load(at);
  const change = f32x4.sub(color, f32x4.mul(covers, below));
  v128.store(at, f32x4.add(below, f32x4.mul(change, amount)));
}

/** Mirrors `covered` of src/kernels/curve.ts. */
function covered(y: v128, edge: v128, half: v128): v128 {
  const rising = f32x4.pmin(f32x4.pmax(y, f32x4.splat(0)), edge);
  const whole = f32x4.sub(f32x4.pmax(y, edge), edge);
  return f32x4.add(f32x4.mul(f32x4.mul(rising, rising), half), whole);
}
