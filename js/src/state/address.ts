/** A place in the views of a page as text: what stands after # in its address. */

import { batch } from "@preact/signals-core";
import { same } from "../basics/same.ts";
import { isPair, partsOf } from "../data/shown.ts";
import { CHOICES, type Choices, NO_SIZE, PAIR, SCHEMA, SIMILARITY } from "./choices.ts";
import type { State } from "./state.ts";

/** The wishes of an address for one view: values by their names, neither of them checked. */
export type Asked = ReadonlyMap<string, string>;

/** The most characters that are read; no reader's choices take as many. */
const LONGEST = 2 ** 16;

/** The wishes of an address for each of so many views: "layer=3" for the first, "2.layer=3" for the second. */
export function askedOf(fragment: string, views: number): readonly Asked[] {
  const all = Array.from({ length: views }, () => new Map<string, string>());
  // Of more, none is read, and that is said as of an unknown name.
  const read = fragment.length > LONGEST ? "too long" : fragment;
  for (const [name, value] of new URLSearchParams(read)) {
    const [, number = 1, own] = /^(\d+)\.(.*)/.exec(name) ?? ["", 1, name];
    const asked = all[Number(number) - 1];
    if (asked) asked.set(own, value);
    // The first view says that there is no such view.
    else all[0]?.set(name, value);
  }
  return all;
}

/** The inverse of `askedOf`. */
export function addressOf(views: readonly Asked[]): string {
  const named = views.flatMap((asked, at) =>
    [...asked].map(([name, value]) => [views.length > 1 ? `${at + 1}.${name}` : name, value]),
  );
  // Readable where an address allows it.
  return `${new URLSearchParams(named)}`.replaceAll("%2C", ",").replaceAll("%3A", ":");
}

/** The choices that differ from those with which the page opens. */
export const differing = (state: State, opening: Choices): Asked =>
  new Map(
    CHOICES.filter((name) => !same(state[name].value, opening[name])).map((name) => [
      name,
      textOf(state[name].value),
    ]),
  );

const textOf = (value: unknown): string => {
  if (typeof value === "string") return value;
  const json = JSON.stringify(value);
  return Array.isArray(value) ? json.slice(1, -1) : json;
};

/** The value for which a text of `textOf` stands; undefined for none. */
function valueFrom(name: keyof Choices, text: string | undefined): unknown {
  if (text === undefined) return undefined;
  const { value, read } = SCHEMA[name];
  const json = typeof value === "string" ? [JSON.stringify(text)] : [text, `[${text}]`];
  for (const each of json) {
    try {
      return read(JSON.parse(each));
    } catch {}
  }
  return undefined;
}

/** Make the choices that an address asks for; all others are those with which the page opens. */
export function openAt(state: State, opening: Choices, asked: Asked): void {
  const ignored = new Set(asked.keys());
  batch(() => {
    for (const name of CHOICES) {
      const choice = state[name] as { value: unknown };
      choice.value = opening[name];
      const value = valueFrom(name, asked.get(name));
      if (value === undefined) continue;
      choice.value = value;
      if (isThere(state, name)) ignored.delete(name);
      else choice.value = opening[name];
    }
    const [head, heads] = [state.head.peek(), state.heads.peek()];
    // The current head is among those that are drawn.
    if (heads?.length && !heads.includes(head)) {
      if (asked.has("head")) state.heads.value = [head];
      else state.head.value = heads[0];
    }
    const [query, key] = [state.query.peek(), state.key.peek()];
    if (query !== null || key !== null) state.sought.value = { query, key };
  });
  if (ignored.size) state.error.value = ignoring([...ignored]);
}

/** The values that stand for no metric where those of metrics stand. */
const NO_METRICS = ["model", "pattern", "layer", PAIR, SIMILARITY, NO_SIZE];

/** False if the record lacks what a choice names, so that something else would be shown in its place. */
function isThere(state: State, name: keyof Choices): boolean {
  const { stacks, lenses, compared } = state.manifest.peek();
  const { metrics, stack, layer } = state.shown;
  const { queries, keys, layers } = stack.peek();
  const [rows, columns] = [queries.labels.length, keys.labels.length];
  const { number, heads } = layer.peek();
  const isMetric = (chosen: string) =>
    NO_METRICS.includes(chosen) || metrics.peek().some((metric) => metric.name === chosen);
  const below = (count: number) => (at: number | null) => at === null || at < count;
  const allBelow = (count: number) => (all: readonly number[] | null) =>
    !all || all.every(below(count));
  const isLayer = (chosen: number) => layers.some((each) => each.number === chosen);
  const checks: { readonly [Name in keyof Choices]?: (value: Choices[Name]) => boolean } = {
    view: (view) => state.views.includes(view),
    stack: (chosen) => stacks.some((each) => each.name === chosen),
    compared: (side) => side === "a" || Boolean(compared),
    layer: (chosen) => chosen === number,
    head: below(heads),
    heads: allBelow(heads),
    query: below(rows),
    key: below(columns),
    also: (all) => allBelow(state.query.peek() === null ? columns : rows)(all),
    named_segments: (all) =>
      all.every(([start, end]) => start < end && end <= Math.max(rows, columns)),
    segments: (choice) => {
      const [, part] = partsOf(choice);
      const named = state.named_segments.peek().map(([start, end]) => `${start}-${end}`);
      return (
        part === "all" ||
        (isPair(stack.peek()) && /^[ab]{2}$/.test(part)) ||
        named.some((own) => part === `from:${own}` || part === `to:${own}`)
      );
    },
    include_layers: (all) => !all || all.every(isLayer),
    off: (all) =>
      all.every(([at, head]) => layers.some((each) => each.number === at && head < each.heads)),
    cut: (all) =>
      all.every(
        ([from, to, at]) =>
          allBelow(rows)(from) && allBelow(columns)(to) && (at ?? []).every(isLayer),
      ),
    lens: (lens) => lenses.some((each) => each.name === lens),
    sort: isMetric,
    color: isMetric,
    map_x: isMetric,
    map_y: isMetric,
    map_size: isMetric,
  };
  const check = checks[name] as ((value: unknown) => boolean) | undefined;
  return check?.(state[name].peek()) ?? true;
}

/** Names that are none are only counted: whoever made the address has written them. */
function ignoring(names: readonly string[]): string {
  const known = names.filter((name) => CHOICES.some((choice) => choice === name));
  const others = names.length - known.length;
  const unknown = others === 1 ? "an unknown name" : `${others} unknown names`;
  const all = [...known, ...(others ? [unknown] : [])].join(", ");
  return `This page does not have all that its address asks for. Ignored: ${all}.`;
}
