/**
 * The positions of tokens along a column or a line, and the part of a long one that is in sight.
 */

import { signal } from "@preact/signals-core";
import { steady } from "../basics/same.ts";
import { el } from "./dom.ts";

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

export type ListWindow = ReturnType<typeof listWindow>;

interface ListWindowOptions {
  readonly track: Track;
  /** The visible length, in CSS pixels. */
  readonly length: number;
  readonly horizontal: boolean;
  /** Called with the distance scrolled. */
  scrolled(by: number): void;
}

/** The number of options rendered beyond each end of the range in sight. */
const READY = 8;

/** The scroll container of a long list of tokens, with the range in sight. */
export function listWindow(options: ListWindowOptions) {
  const { track, length, horizontal } = options;
  const element = el("div", { class: "window" });
  element.style[horizontal ? "width" : "height"] = `${length}px`;
  const edge = horizontal ? "scrollLeft" : "scrollTop";
  /** The scroll position in the list, in CSS pixels. */
  const start = signal(0);
  const within = (to: number) => Math.max(0, Math.min(track.length - length, to));

  function scrollBy(by: number): void {
    const before = start.peek();
    scrollTo(before + by);
    if (start.peek() !== before) options.scrolled(start.peek() - before);
  }

  function scrollTo(to: number): void {
    start.value = within(to);
    element[edge] = start.peek();
  }

  const sight = steady<Range>(() => [
    track.at(start.value),
    track.at(start.value + length - 1) + 1,
  ]);
  /** The range of places to render. */
  const range = steady<Range>(() => {
    const [first, end] = sight.value;
    return [Math.max(0, first - READY), Math.min(track.count, end + READY)];
  });

  element.addEventListener("scroll", () => {
    const by = element[edge] - start.peek();
    // Ignore the event of a position that was set, which the browser rounds.
    if (Math.abs(by) < 1) return;
    start.value = within(element[edge]);
    options.scrolled(by);
  });
  // An element can scroll only after its layout.
  queueMicrotask(() => {
    element[edge] = start.peek();
  });

  return {
    element,
    start,
    range,
    sight,
    /** Scroll to a place, and report it like scrolling by the reader. */
    reveal(at: number): void {
      const before = start.peek();
      const [from, to] = [track.start(at), track.start(at) + track.size(at) - length];
      if (from >= before && to <= before) return;
      const near = from < before ? from : to;
      // From far away, scroll it to the middle.
      scrollBy((Math.abs(near - before) < length / 2 ? near : (from + to) / 2) - before);
    },
    /** Scroll the middle of a place to `offset` in the window, and report it likewise. */
    align: (at: number, offset: number) => scrollBy(track.middle(at) - offset - start.peek()),
    scrollTo,
  };
}
