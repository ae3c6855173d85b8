/** Cuts of the answer's links to parts of its prompt, which the kernel measures. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import type { MeasuredCut } from "../../data/manifest.ts";
import type { Cut } from "../../data/requests.ts";
import type { Bound } from "../../parts/choice.ts";
import type { Context } from "../shared/view.ts";
import { keysOf, type Part, type Span } from "./shares.ts";

export interface Cutting {
  /** By part, what its cut changes; null where it is not measured. */
  readonly cuts: ReadonlySignal<readonly (MeasuredCut | null)[]>;
  /** The part without which the answer is shown. */
  readonly without: Bound<number | null>;
  /** True where the kernel can cut. */
  readonly live: boolean;
  /** Why there is no number: it is being measured, or could not be; else "". */
  readonly message: ReadonlySignal<string>;
  /** Cuts each of these parts in turn, in one batch. */
  measure(parts: readonly number[]): void;
  /** Shows the answer without a part, or as it was. */
  toggle(part: number): void;
  /** Reads the answer after other orders of the sentences. */
  shuffle(): void;
  /** What is measured of a part, in all heads and in some. */
  of(part: number): readonly MeasuredCut[];
  /** Cuts a part in each of these sets of heads, if that is not measured. */
  inHeads(part: number, heads: readonly Cut["heads"][]): Promise<void>;
}

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

/**
 * A choice of a part by its number from 1, as an index; null where there is none.
 *
 * @param mine the index of a part of the reader's own, which no other view knows; -1 for none
 * @param isMine true where that is chosen
 */
export const byNumber = (
  choice: Signal<number | null>,
  isThere: (index: number) => boolean,
  mine: number,
  isMine: Signal<boolean>,
): Bound<number | null> => ({
  get value() {
    const index = choice.value === null ? null : choice.value - 1;
    if (index === null) return mine >= 0 && isMine.value ? mine : null;
    return index !== mine && isThere(index) ? index : null;
  },
  set value(index) {
    batch(() => {
      isMine.value = index !== null && index === mine;
      choice.value = index === null || index === mine ? null : index + 1;
    });
  },
});

const isOf = (cut: MeasuredCut, heads: Cut["heads"]): boolean => `${cut.heads}` === `${heads}`;

export function cutting(
  { scope, store, state }: Context,
  parts: readonly Part[],
  isAnswered: boolean,
  mine: number,
  isMine: Signal<boolean>,
): Cutting {
  const { name } = state.shown.stack.peek();
  const all = store.stack(name).cuts;
  const model = isAnswered ? store.source.cuts : null;
  const message = signal("");
  const of = (part: number) => {
    const { start, end, keys } = parts[part];
    return all.value.filter(
      (cut) => cut.start === start && cut.end === end && `${cut.keys}` === `${keys}`,
    );
  };
  const cuts = computed(() =>
    parts.map((_, part) => of(part).find(({ heads }) => heads === null) ?? null),
  );
  // A page shows what it has.
  const without = byNumber(
    state.cut_part,
    (part) => part < parts.length && Boolean(model || cuts.value[part]),
    mine,
    isMine,
  );
  const fail = (error: Error) => {
    if (!scope.signal.aborted) message.value = error.message;
  };
  const keep = (
    part: number,
    changes: readonly number[],
    answer: string | null,
    heads: Cut["heads"] = null,
  ) => {
    const { start, end, keys } = parts[part];
    const others = all.peek().filter((cut) => !(isOf(cut, heads) && of(part).includes(cut)));
    all.value = [...others, { start, end, keys, heads, changes, answer }];
  };
  // Those that the kernel was asked for, so that it is asked once.
  const [underWay, answered] = [new Set<number>(), new Set<number>()];
  const { shuffled } = store.stack(name);
  let isShuffling = false;
  const say = () => {
    const { size } = underWay;
    const orders = isShuffling ? "Reading the sentences in other orders …" : "";
    message.value = size ? `Measuring ${size > 1 ? `${size} cuts` : "the cut"} …` : orders;
  };
  const measure = (wanted: readonly number[]) => {
    const some = wanted.filter((part) => !underWay.has(part));
    if (!model || !some.length) return;
    for (const part of some) underWay.add(part);
    say();
    const asked = some.map((part) => ({ keys: [...keysOf(parts[part])], heads: null }));
    const end = () => {
      for (const part of some) underWay.delete(part);
      say();
    };
    model.cut(name, asked, scope.signal).then(
      (found) => {
        end();
        batch(() => {
          for (const [at, part] of some.entries()) {
            keep(part, found[at], cuts.peek()[part]?.answer ?? null);
          }
        });
      },
      (error) => {
        end();
        fail(error);
      },
    );
  };
  scope.effect(() => {
    const part = without.value;
    if (!model || part === null) return;
    const cut = cuts.value[part];
    if (!cut) return measure([part]);
    if (cut.answer !== null || answered.has(part)) return;
    answered.add(part);
    const settle = (text: string) => keep(part, cuts.peek()[part]?.changes ?? cut.changes, text);
    model.answer(name, [...keysOf(parts[part])], scope.signal).then(settle, (error) => {
      answered.delete(part);
      fail(error);
    });
  });
  const shuffle = () => {
    if (!model || shuffled.peek() || isShuffling) return;
    isShuffling = true;
    say();
    const end = () => {
      isShuffling = false;
      say();
    };
    model.shuffled(name, scope.signal).then(
      (ratios) => {
        end();
        shuffled.value = ratios;
      },
      (error) => {
        end();
        fail(error);
      },
    );
  };
  return {
    shuffle,
    cuts,
    without,
    live: Boolean(model),
    message,
    measure,
    toggle(part) {
      without.value = without.value === part ? null : part;
    },
    of,
    async inHeads(part, sets) {
      const missing = sets.filter((heads) => !of(part).some((cut) => isOf(cut, heads)));
      const asked = missing.map((heads) => ({ keys: [...keysOf(parts[part])], heads }));
      const found = await model?.cut(name, asked, scope.signal);
      batch(() => {
        for (const [at, changes] of (found ?? []).entries()) keep(part, changes, null, missing[at]);
      });
    },
  };
}
