/** Decodes entropy-coded integers: mirrors `attnwidget/wire/compression/integers.py`. */

const HEADER = 13;
const BITS = 12;
const TOTAL = 1 << BITS;
const LEAST = 1 << 16;
const SMALL = 16;
/** The coarsest unit of a centre, as a shift. */
const COARSEST = 22;
/** The most symbols of an alphabet. */
const MOST_TOKENS = 96;

const DAMAGED = "The numbers of this layer are damaged.";

export function decodeIntegers(bytes: Uint8Array, count: number): Int32Array {
  if (bytes.length < HEADER) throw new Error(DAMAGED);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true);
  const lanes = view.getUint16(4, true);
  const tables = view.getUint8(6);
  const size = view.getUint8(7);
  const channels = Math.ceil(count / length);
  const centresAt = HEADER + channels;
  const frequenciesAt = centresAt + channels;
  const statesAt = frequenciesAt + 2 * tables * size;
  const wordsAt = statesAt + 4 * lanes;
  const bitsAt = wordsAt + 2 * view.getUint32(8, true);
  const shift = view.getUint8(12);
  const supported = shift <= COARSEST && lanes > 0 && size <= MOST_TOKENS;
  if (!(bitsAt <= bytes.length) || !supported) throw new Error(DAMAGED);

  const frequencies = new Uint16Array(tables * size);
  for (let n = 0; n < frequencies.length; n++) {
    frequencies[n] = view.getUint16(frequenciesAt + 2 * n, true);
  }
  const { tokens, starts } = slots(frequencies, tables, size);
  const states = new Uint32Array(lanes);
  for (let n = 0; n < lanes; n++) states[n] = view.getUint32(statesAt + 4 * n, true);

  const out = new Int32Array(count);
  let word = wordsAt;
  let bit = bitsAt;
  let held = 0;
  let holding = 0;
  for (let channel = 0, lane = 0, n = 0; channel < channels; channel++) {
    const table = bytes[HEADER + channel];
    if (table >= tables) throw new Error(DAMAGED);
    const centre = view.getInt8(centresAt + channel) << shift;
    for (const end = Math.min(n + length, count); n < end; n++) {
      const state = states[lane];
      const slot = state & (TOTAL - 1);
      const token = tokens[table * TOTAL + slot];
      const at = table * size + token;
      let next = frequencies[at] * (state >>> BITS) + slot - starts[at];
      if (next < LEAST) {
        next = next * LEAST + (bytes[word] | (bytes[word + 1] << 8));
        word += 2;
      }
      states[lane] = next;
      if (++lane === lanes) lane = 0;
      let zigzag = token;
      if (token >= SMALL) {
        const width = ((token - SMALL) >> 2) + 2;
        for (; holding < width; holding += 8) held = ((held << 8) | bytes[bit++]) & 0x3fffffff;
        holding -= width;
        zigzag = ((4 | (token & 3)) << width) | ((held >> holding) & ((1 << width) - 1));
      }
      out[n] = (zigzag & 1 ? -(zigzag + 1) >> 1 : zigzag >> 1) + centre;
    }
  }
  // The encoder started with these states, and padded the bits to 32.
  const whole = word === bitsAt && states.every((state) => state === LEAST);
  if (!whole || bitsAt + Math.ceil((bit - bitsAt) / 4) * 4 !== bytes.length) {
    throw new Error(DAMAGED);
  }
  return out;
}

/** The symbol of every slot of each table, and the first slot of each symbol. */
function slots(frequencies: Uint16Array, tables: number, size: number) {
  const tokens = new Uint8Array(tables * TOTAL);
  const starts = new Uint16Array(tables * size);
  for (let table = 0; table < tables; table++) {
    let sum = 0;
    for (let token = 0; token < size; token++) {
      const at = table * size + token;
      starts[at] = sum;
      const end = sum + frequencies[at];
      if (end > TOTAL) throw new Error(DAMAGED);
      tokens.fill(token, table * TOTAL + sum, table * TOTAL + end);
      sum = end;
    }
    if (sum !== TOTAL) throw new Error(DAMAGED);
  }
  return { tokens, starts };
}
