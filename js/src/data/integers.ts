/** Restores coded integers: mirrors `attnwidget/wire/compression/integers.py`. */

import { type Arrays, arrayOf, type NumberArray } from "./arrays.ts";

/** Each array of coded integers has these parts beside its symbols. */
export const CHANNELS = "_channels";
export const LOW = "_low";

/** The most lower bits of an integer. */
export const MOST_LOW = 24;

const DAMAGED = "The numbers of this layer are damaged.";

/** The arrays of a block, with coded integers restored. */
export function withIntegers(parts: Arrays): Arrays {
  const out = new Map(parts);
  for (const coded of parts.keys()) {
    if (!coded.endsWith(CHANNELS)) continue;
    const name = coded.slice(0, -CHANNELS.length);
    const [symbols, channels, low] = [name, coded, name + LOW].map((part) => arrayOf(parts, part));
    out.set(name, integers(symbols, channels.values, low.values));
    out.delete(coded);
    out.delete(name + LOW);
  }
  return out;
}

/**
 * @param symbols [..., length], with channels in the order of their ranks
 * @param channels the ranks, shifts and centres of the channels, [3, channels]
 * @param low the lower bits: bit 0 of all channels with a shift of at least 1, then bit 1, ...
 */
function integers(
  { shape, values }: NumberArray,
  channels: Float32Array,
  low: Float32Array,
): NumberArray {
  const count = channels.length / 3;
  const length = values.length / count;
  const [ranks, shifts, centres] = [0, 1, 2].map((row) =>
    channels.subarray(row * count, (row + 1) * count),
  );
  const bits = shifts.reduce((sum, shift) => sum + shift * length, 0);
  const supported = shifts.every((shift) => shift >= 0 && shift <= MOST_LOW);
  if (!supported || bits !== low.length) throw new Error(DAMAGED);
  const order = Array.from(ranks, (_, channel) => channel);
  order.sort((a, b) => ranks[a] - ranks[b] || a - b);
  const out = new Float32Array(values.length);
  order.forEach((channel, place) => {
    const unit = 2 ** shifts[channel];
    const own = out.subarray(channel * length, (channel + 1) * length);
    for (let n = 0; n < length; n++) {
      own[n] = (values[place * length + n] + centres[channel]) * unit;
    }
  });
  let at = 0;
  for (let bit = 0; at < low.length; bit++) {
    for (let channel = 0; channel < count; channel++) {
      if (shifts[channel] <= bit) continue;
      const end = (channel + 1) * length;
      for (let n = channel * length; n < end; n++) out[n] += low[at++] * 2 ** bit;
    }
  }
  return { shape, values: out };
}
