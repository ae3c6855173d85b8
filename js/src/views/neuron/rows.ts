/** The rows of the neuron view to render, while the body scrolls. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { steady } from "../../basics/same.ts";
import type { Range } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { MARKS } from "./layout.ts";

export type Rows = ReturnType<typeof neuronRows>;

/** The most rows of a text that is not long. */
const SHORT = 128;
/** The most rows whose labels are all rendered: every label costs time with every hover. */
const IN_FULL = 64;
/** Rows are painted in multiples of this, with as many beyond each end of the visible ones. */
const STEP = 8;
/** The height of the column headers, and the space below the rows. */
const COVERED = 40;
const BELOW = 12;
/** The width of the strip beside the rows of a long text, with its gap. */
export const STRIP = 40;
/** The assumed height until the element is in the page. */
const ASSUMED_HEIGHT = 760;

/**
 * @param first the row to scroll to if nothing has been scrolled
 * @param onPaper true while a figure is painted, which shows all rows of a text that is not long
 */
export function neuronRows(
  count: number,
  height: number,
  first: number,
  onPaper: ReadonlySignal<boolean>,
) {
  /** True if figures show only the rows in sight, and a strip shows the softmax over all keys. */
  const long = count > SHORT;
  /** True if the labels of all rows are rendered. */
  const whole = computed(() => count <= IN_FULL || (onPaper.value && !long));
  const [start, visibleHeight] = [signal(0), signal(ASSUMED_HEIGHT)];
  /** The visible rows, and the height for them in CSS pixels. */
  const sight = steady<Range>(() => {
    const from = Math.floor(Math.max(0, start.value - MARKS) / height);
    return [from, Math.min(count, Math.ceil((start.value + visibleHeight.value - MARKS) / height))];
  });
  /** The rows in the picture: those in sight, and some above and below. */
  const painted = steady<Range>(() => {
    const [from, end] = sight.value;
    const before = (Math.floor(from / STEP) - 1) * STEP;
    return [Math.max(0, before), Math.min(count, (Math.ceil(end / STEP) + 1) * STEP)];
  });
  /** The rows whose labels are rendered. */
  const range = steady<Range>(() => (whole.value ? [0, count] : painted.value));
  let scroller: HTMLElement | null = null;
  let on: HTMLElement | null = null;

  function measure(): void {
    if (!scroller || !on) return;
    const top = scroller.getBoundingClientRect().top + COVERED;
    start.value = Math.max(0, top - on.getBoundingClientRect().top);
    visibleHeight.value = Math.max(height, scroller.clientHeight - COVERED - BELOW);
  }
  function scrollTo(to: number): void {
    if (!scroller) return;
    scroller.scrollTop += to - start.peek();
    measure();
  }
  /** Scroll until a row is in the middle. */
  const centre = (row: number) => scrollTo(MARKS + (row + 0.5) * height - visibleHeight.peek() / 2);

  /** Scroll until a row is visible. */
  function reveal(row: number): void {
    const top = MARKS + row * height;
    const bottom = top + height - visibleHeight.peek();
    const before = start.peek();
    if (before > bottom && before < top) return;
    const near = before > top ? top - height : bottom + height;
    // From far away, scroll it to the middle.
    if (Math.abs(near - before) < visibleHeight.peek() / 2) scrollTo(near);
    else centre(row);
  }

  return {
    long,
    /** The width of the strip beside the rows of a long text. */
    strip: long ? STRIP : 0,
    whole,
    count,
    height,
    range,
    painted,
    sight,
    visibleHeight,
    centre,
    reveal,
    /** The options of a column of so many labels, of which a part is rendered. */
    partOf: (labels: number) =>
      whole.peek()
        ? {}
        : {
            range: computed(
              () => range.value.map((row) => Math.min(row, labels)) as [number, number],
            ),
            reveal,
          },
    /** Follow the scrolling of the element that holds the rows, once it is in the page. */
    follow(scope: Scope, stage: HTMLElement): void {
      queueMicrotask(() => {
        on = stage;
        scroller = stage.closest<HTMLElement>(".body");
        if (scope.signal.aborted || !scroller) return;
        scroller.addEventListener("scroll", measure, { signal: scope.signal });
        scope.onResize(scroller, measure);
        measure();
        if (long && scroller.scrollTop === 0) centre(first);
      });
    },
  };
}
