/** The scroll container of a long list of tokens, with the range in sight. */

import { type ReadonlySignal, signal } from "@preact/signals-core";
import { steady } from "../basics/same.ts";
import { el } from "./dom.ts";
import type { Range, Track } from "./track.ts";

export interface ListWindow {
  /** The container of the list. */
  readonly element: HTMLElement;
  /** The scroll position in the list, in CSS pixels. */
  readonly start: ReadonlySignal<number>;
  /** The range of places to render, and the range in sight. */
  readonly range: ReadonlySignal<Range>;
  readonly sight: ReadonlySignal<Range>;
  /** Scroll to a place, and report it like scrolling by the reader. */
  reveal(at: number): void;
  /** Scroll the middle of a place to `offset` in the window, and report it likewise. */
  align(at: number, offset: number): void;
  scrollTo(start: number): void;
}

export interface ListWindowOptions {
  readonly track: Track;
  /** The visible length, in CSS pixels. */
  readonly length: number;
  readonly horizontal: boolean;
  /** Called with the distance scrolled. */
  scrolled(by: number): void;
}

/** The number of options rendered beyond each end of the range in sight. */
const READY = 8;

export function listWindow(options: ListWindowOptions): ListWindow {
  const { track, length, horizontal } = options;
  const element = el("div", { class: "window" });
  element.style[horizontal ? "width" : "height"] = `${length}px`;
  const edge = horizontal ? "scrollLeft" : "scrollTop";
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
    reveal(at) {
      const before = start.peek();
      const [from, to] = [track.start(at), track.start(at) + track.size(at) - length];
      if (from >= before && to <= before) return;
      const near = from < before ? from : to;
      // From far away, scroll it to the middle.
      scrollBy((Math.abs(near - before) < length / 2 ? near : (from + to) / 2) - before);
    },
    align: (at, offset) => scrollBy(track.middle(at) - offset - start.peek()),
    scrollTo,
  };
}
