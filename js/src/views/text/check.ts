/** The check of heads by cutting: a link in those that look most, in the others, and in as many at random. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { Head } from "../../data/manifest.ts";
import { button, el, replaceContent } from "../../parts/dom.ts";
import type { Context } from "../shared/view.ts";
import { strongestOf } from "./carriers.ts";
import { type Cutting, nats } from "./cutting.ts";
import type { Carrier, Part, Span } from "./shares.ts";

/** An odd number, which has a middle. */
const DRAWS = 11;

interface Checked {
  readonly found: ReadonlySignal<readonly Carrier[] | null>;
  /** The part whose link is cut, and the tokens of the answer that it is from. */
  readonly linked: ReadonlySignal<number | null>;
  readonly span: ReadonlySignal<Span>;
  /** Changes when something else is locked. */
  readonly locked: ReadonlySignal<unknown>;
  readonly cutting: Cutting;
  readonly parts: readonly Part[];
}

export function checkOfHeads(
  { scope }: Context,
  heads: readonly Head[],
  { found, linked, span, locked, cutting, parts }: Checked,
): HTMLElement {
  const element = el("div", { class: "check" });
  const names = (numbers: readonly number[]) =>
    numbers.map((at) => [heads[at].layer.number, heads[at].head] as const);
  const check = () => {
    const [part, asOf, [first, last]] = [linked.peek(), locked.peek(), span.peek()];
    const most = strongestOf(found.peek()).map(({ head }) => head);
    if (part === null || !most.length) return;
    const rest = heads.map((_, at) => at).filter((at) => !most.includes(at));
    const next = randomNumbers();
    const random = Array.from({ length: DRAWS }, () => drawn(heads.length, most.length, next));
    const sets = [names(most), names(rest), null, ...random.map(names)];
    replaceContent(element, el("p", { class: "note" }, "Measuring …"));
    const show = (changes: readonly (readonly number[])[]) => {
      if (locked.peek() !== asOf) return;
      const [these, others, all, ...draws] = changes.map((each) =>
        each.slice(first, last + 1).reduce((sum, change) => sum + change, 0),
      );
      const middle = [...draws].sort((a, b) => a - b)[draws.length >> 1];
      replaceContent(
        element,
        rowsOf(parts[part].name, [
          [`Cut in these ${most.length}: Δ log p`, these],
          [`in the ${rest.length} others`, others],
          [`in all ${heads.length}`, all],
          [`in ${most.length} random, median of ${draws.length}`, middle],
        ]),
      );
    };
    const fail = (error: Error) => {
      if (locked.peek() === asOf) offer(el("p", { class: "note" }, error.message));
    };
    cutting.inHeads(part, sets)?.then(show, fail);
  };
  const title = "Cut the link in these heads alone, in all others, and in as many at random";
  const offer = (...more: Node[]) =>
    replaceContent(element, el("div", {}, button({ title }, "Check by cutting", check), ...more));
  // What was measured is of one link.
  scope.effect(() => {
    locked.value;
    element.hidden = !cutting.live;
    offer();
  });
  return element;
}

function rowsOf(named: string, rows: readonly (readonly [string, number])[]): HTMLElement {
  const body = rows.map(([name, change]) =>
    el("tr", {}, el("td", {}, name), el("td", {}, nats(change))),
  );
  const label = `The link to ${named} cut in some heads`;
  return el("table", { "aria-label": label }, el("tbody", {}, ...body));
}

/** Numbers from 0 to 1, the same in every browser: "mulberry32" from 0. */
function randomNumbers(): () => number {
  let state = 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** So many of the first numbers, drawn without repetition. */
function drawn(all: number, count: number, next: () => number): readonly number[] {
  const numbers = Array.from({ length: all }, (_, at) => at);
  for (let at = 0; at < count; at++) {
    const other = at + Math.floor(next() * (all - at));
    [numbers[at], numbers[other]] = [numbers[other], numbers[at]];
  }
  return numbers.slice(0, count);
}
