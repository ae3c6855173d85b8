/** The positions of tokens along a column or a line. */

/** Indices from the first to before the second. */
export type Range = readonly [first: number, end: number];

export interface Track {
  /** The total length in CSS pixels. */
  readonly length: number;
  readonly count: number;
  start(index: number): number;
  size(index: number): number;
  middle(index: number): number;
  /** The index of the token at a position, or the nearest. */
  at(place: number): number;
}

export function trackOf(sizes: readonly number[]): Track {
  let length = 0;
  const starts = sizes.map((size) => {
    length += size;
    return length - size;
  });
  return {
    length,
    count: sizes.length,
    start: (index) => starts[index],
    size: (index) => sizes[index],
    middle: (index) => starts[index] + sizes[index] / 2,
    at(place) {
      // Binary search for the last token that starts at or before the position.
      let [low, high] = [0, sizes.length];
      while (high - low > 1) {
        const half = (low + high) >> 1;
        if (starts[half] <= place) low = half;
        else high = half;
      }
      return low;
    },
  };
}

export const uniformTrack = (count: number, size: number): Track => ({
  length: count * size,
  count,
  start: (index) => index * size,
  size: () => size,
  middle: (index) => (index + 0.5) * size,
  at: (place) => Math.max(0, Math.min(count - 1, Math.floor(place / size))),
});

/** The place in `shown` of each index below `count`, or -1. */
export function placesOf(shown: readonly number[], count: number): Int32Array {
  const places = new Int32Array(count).fill(-1);
  shown.forEach((index, at) => {
    places[index] = at;
  });
  return places;
}
