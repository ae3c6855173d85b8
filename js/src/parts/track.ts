/** Where the tokens of a row or column stand: one after the other, each with its own size. */

export interface Track {
  /** In CSS pixels. */
  readonly length: number;
  start(index: number): number;
  size(index: number): number;
  middle(index: number): number;
}

export function trackOf(sizes: readonly number[]): Track {
  let length = 0;
  const starts = sizes.map((size) => {
    length += size;
    return length - size;
  });
  return {
    length,
    start: (index) => starts[index],
    size: (index) => sizes[index],
    middle: (index) => starts[index] + sizes[index] / 2,
  };
}

export const uniformTrack = (count: number, size: number): Track =>
  trackOf(Array.from({ length: count }, () => size));
