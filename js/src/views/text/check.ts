/** The check of heads by cutting: a link in those that look most, in the others, and in as many at random. */

import { computed, signal } from "@preact/signals-core";
import type { Head, MeasuredCut } from "../../data/manifest.ts";
import { button, el, replaceContent } from "../../parts/dom.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { strongestOf } from "./carriers.ts";
import { changeOf, nats } from "./cutting.ts";
import type { Reading } from "./reading.ts";
import type { Carrier, Span } from "./shares.ts";

/** An odd number, which has a middle. */
const DRAWS = 11;

const MEASURING = "Measuring …";

/** Python may have chosen heads by exact shares; those here, in 8 bits, are within .004 of them. */
const ROUNDING = 0.008;

export function checkOfHeads(
  scope: Scope,
  { heads, found, linked, shown: span, pointing, cutting, parts }: Reading,
): HTMLElement {
  const element = el("div", { class: "check" });
  const names = (numbers: readonly number[]) =>
    [...numbers].sort((a, b) => a - b).map((at) => nameOf(heads[at]));
  const link = computed(() => `${linked.value} ${span.value}`);
  // What is said of a link that is not measured.
  const said = signal({ of: "", words: "" });
  const check = () => {
    const [part, of] = [linked.peek(), link.peek()];
    const most = strongestOf(found.peek()).map(({ head }) => head);
    if (part === null || !most.length) return;
    const rest = heads.map((_, at) => at).filter((at) => !most.includes(at));
    const next = randomNumbers();
    const random = Array.from({ length: DRAWS }, () => drawn(heads.length, most.length, next));
    said.value = { of, words: MEASURING };
    const sets = [names(most), names(rest), null, ...random.map(names)];
    cutting.inHeads(part, sets).catch(({ message }: Error) => {
      said.value = { of, words: message };
    });
  };
  const rows = computed(() => {
    const part = linked.value;
    const cuts = part === null ? [] : cutting.of(part);
    return measuredRows(cuts, heads, found.value ?? [], span.value);
  });
  const title = "Cut the link in these heads alone, in all others, and in as many at random";
  scope.effect(() => {
    const [now, { of, words }] = [rows.value, said.value];
    const isOther = pointing.value && !now;
    // Its room is kept while another link is pointed at, so that nothing moves.
    element.style.visibility = isOther ? "hidden" : "";
    if (isOther) return;
    element.hidden = !cutting.live && !now;
    const own = of === link.value ? words : "";
    const go = own === MEASURING ? "" : button({ title }, "Check by cutting", check);
    const offer = () => el("div", {}, go, own && el("p", { class: "note" }, own));
    replaceContent(element, now ? rowsOf(parts[linked.value ?? 0].name, now) : offer());
  });
  return element;
}

const nameOf = ({ layer, head }: Head) => [layer.number, head] as const;

type Rows = readonly (readonly [name: string, change: number])[];

/** What a link's cuts in some heads say, beside those at random; null if they are not measured. */
function measuredRows(
  cuts: readonly MeasuredCut[],
  heads: readonly Head[],
  found: readonly Carrier[],
  span: Span,
): Rows | null {
  const most = strongestOf(found);
  const least = (most.at(-1)?.share ?? 0) - ROUNDING;
  const strong = new Set(
    found.flatMap(({ head, share }) => (share < least ? [] : [`${nameOf(heads[head])}`])),
  );
  const sets = cuts.flatMap((cut) =>
    cut.heads ? [{ cut, own: new Set(cut.heads.map((name) => `${name}`)) }] : [],
  );
  type Own = (typeof sets)[number];
  // Heads that were chosen have all others beside them; those that were drawn have not.
  const othersOf = ({ own }: Own) =>
    sets.find(
      (each) =>
        each.own.size + own.size === heads.length && ![...own].some((name) => each.own.has(name)),
    );
  const asMany = sets.filter(({ own }) => own.size === most.length);
  const these = asMany.find((each) => othersOf(each) && [...each.own].every((n) => strong.has(n)));
  const others = these && othersOf(these);
  const all = cuts.find((cut) => !cut.heads);
  if (!others || !all) return null;
  const change = (cut: MeasuredCut) => changeOf(cut, span) ?? 0;
  const draws = asMany.filter((each) => !othersOf(each)).map(({ cut }) => change(cut));
  draws.sort((a, b) => a - b);
  const count = draws.length;
  const middle = (draws[(count - 1) >> 1] + draws[count >> 1]) / 2;
  const random = [`in ${most.length} random, median of ${count}`, middle] as const;
  return [
    [`Cut in these ${most.length}: Δ log p`, change(these.cut)],
    [`in the ${others.own.size} others`, change(others.cut)],
    // Of the model: layers may be missing here.
    ["in every head", change(all)],
    ...(count ? [random] : []),
  ];
}

function rowsOf(named: string, rows: Rows): HTMLElement {
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
