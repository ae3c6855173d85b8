/** Cuts of the answer's links to parts of its prompt, which the kernel measures. */

import { batch, computed, signal } from "@preact/signals-core";
import type { MeasuredCut } from "../../data/manifest.ts";
import type { Cut } from "../../data/requests.ts";
import { type Bound, bound } from "../../parts/choice.ts";
import type { Context } from "../shared/view.ts";
import { keysOf, type Part, type Span } from "./shares.ts";

/** The change of the log probability of several tokens, in nats; null where it is not measured. */
export const changeOf = (
  cut: MeasuredCut | null | undefined,
  [first, last]: Span,
): number | null =>
  cut ? cut.changes.slice(first, last + 1).reduce((sum, each) => sum + each, 0) : null;

export const nats = (change: number): string => {
  const written = Math.abs(change).toFixed(2);
  return `${written === "0.00" ? "" : change < 0 ? "−" : "+"}${written}`;
};

/** A part, and the heads in which it is cut; null for all. */
interface Wanted {
  readonly part: number;
  readonly heads: Cut["heads"];
}

export type Cutting = ReturnType<typeof cutting>;

/** @param chosen the part without which the reader wants to see the answer */
export function cutting(
  { scope, store, state }: Context,
  parts: readonly Part[],
  isAnswered: boolean,
  chosen: Bound<number | null>,
) {
  const { name } = state.shown.stack.peek();
  const { cuts: all, shuffled } = store.stack(name);
  const model = isAnswered ? store.source.cuts : null;
  /** Why there is no number: it is being measured, or could not be; else "". */
  const message = signal("");
  /** The measured cuts of a part, in all heads and in some. */
  const of = (part: number) => {
    const { start, end, keys } = parts[part];
    return all.value.filter(
      (cut) => cut.start === start && cut.end === end && `${cut.keys}` === `${keys}`,
    );
  };
  const found = ({ part, heads }: Wanted) =>
    of(part).find((cut) => `${cut.heads}` === `${heads}`) ?? null;
  const inAll = (part: number): Wanted => ({ part, heads: null });
  /** By part, what its cut in all heads changes; null where it is not measured. */
  const cuts = computed(() => parts.map((_, part) => found(inAll(part))));
  // A page shows what it has.
  const without = bound(
    () => (chosen.value !== null && (model || cuts.value[chosen.value]) ? chosen.value : null),
    (part) => {
      chosen.value = part;
    },
  );
  const keep = (wanted: Wanted, change: Partial<Pick<MeasuredCut, "changes" | "answer">>) => {
    const { start, end, keys } = parts[wanted.part];
    const before = found(wanted) ?? { start, end, keys, changes: [], answer: null };
    const others = all.peek().filter((cut) => cut !== before);
    all.value = [...others, { ...before, ...change, heads: wanted.heads }];
  };
  const cut = async (wanted: readonly Wanted[]) => {
    const asked = wanted.map(({ part, heads }) => ({ keys: [...keysOf(parts[part])], heads }));
    const measured = await model?.cut(name, asked, scope.signal);
    batch(() => {
      for (const [at, changes] of (measured ?? []).entries()) keep(wanted[at], { changes });
    });
  };
  const fail = (error: Error) => {
    if (!scope.signal.aborted) message.value = error.message;
  };
  // What the kernel was asked for, so that it is asked once.
  const [underWay, answered] = [new Set<number>(), new Set<number>()];
  let isShuffling = false;
  const say = () => {
    const { size } = underWay;
    const orders = isShuffling ? "Reading the sentences in other orders …" : "";
    message.value = size ? `Measuring ${size > 1 ? `${size} cuts` : "the cut"} …` : orders;
  };
  /** Cuts each of these parts in turn, in one batch. */
  const measure = (wanted: readonly number[]) => {
    const some = wanted.filter((part) => !underWay.has(part));
    if (!model || !some.length) return;
    for (const part of some) underWay.add(part);
    say();
    const end = () => {
      for (const part of some) underWay.delete(part);
      say();
    };
    cut(some.map(inAll)).finally(end).catch(fail);
  };
  scope.effect(() => {
    const part = without.value;
    if (!model || part === null) return;
    const cut = cuts.value[part];
    if (!cut) return measure([part]);
    if (cut.answer !== null || answered.has(part)) return;
    answered.add(part);
    const settle = (answer: string) => keep(inAll(part), { answer });
    model.answer(name, [...keysOf(parts[part])], scope.signal).then(settle, (error) => {
      answered.delete(part);
      fail(error);
    });
  });
  return {
    cuts,
    /** The part without which the answer is shown. */
    without,
    /** True where the kernel can cut. */
    live: Boolean(model),
    message,
    measure,
    /** Measures all that is not measured yet. */
    measureAll: () => measure(cuts.peek().flatMap((cut, part) => (cut ? [] : [part]))),
    /** Shows the answer without a part, or as it was. */
    toggle(part: number): void {
      without.value = without.value === part ? null : part;
    },
    /** Reads the answer after other orders of the sentences. */
    shuffle(): void {
      if (!model || shuffled.peek() || isShuffling) return;
      isShuffling = true;
      say();
      const end = () => {
        isShuffling = false;
        say();
      };
      model
        .shuffled(name, scope.signal)
        .finally(end)
        .then((ratios) => {
          shuffled.value = ratios;
        }, fail);
    },
    of,
    /** Cuts a part in each of these sets of heads, if that is not measured. */
    inHeads: (part: number, sets: readonly Cut["heads"][]) =>
      cut(sets.map((heads) => ({ part, heads })).filter((each) => !found(each))),
  };
}
