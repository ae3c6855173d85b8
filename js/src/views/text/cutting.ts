/** Cuts of the answer's links to parts of its prompt, which the kernel measures. */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import type { MeasuredCut, RunningText } from "../../data/manifest.ts";
import type { Cut } from "../../data/requests.ts";
import type { Context } from "../shared/view.ts";
import type { Span } from "./shares.ts";

export interface Cutting {
  /** By sentence, what its cut changes; missing where it is not measured. */
  readonly cuts: ReadonlySignal<readonly (MeasuredCut | null)[]>;
  /** The sentence without which the answer is shown. */
  readonly without: Signal<number | null>;
  /** True where the kernel can cut. */
  readonly live: boolean;
  /** Why there is no number: it is being measured, or could not be; else "". */
  readonly message: ReadonlySignal<string>;
  /** Cuts each of these sentences in turn, in one batch. */
  measure(parts: readonly number[]): void;
  /** Shows the answer without a sentence, or as it was. */
  toggle(part: number): void;
  /** The changes of several cuts of one sentence, in some heads. */
  inHeads(
    part: number,
    heads: readonly Cut["heads"][],
  ): Promise<readonly (readonly number[])[]> | null;
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

export function cutting(
  { scope, store, state }: Context,
  { sentences, answer }: RunningText,
): Cutting {
  const { name } = state.shown.stack.peek();
  const { cuts } = store.stack(name);
  const model = answer ? store.cuts : null;
  const [without, message] = [signal<number | null>(null), signal("")];
  const keysOf = (part: number) => {
    const [start, end] = sentences[part];
    return Array.from({ length: end - start }, (_, at) => start + at);
  };
  const fail = (error: Error) => {
    if (!scope.signal.aborted) message.value = error.message;
  };
  const keep = (part: number, cut: MeasuredCut) => {
    cuts.value = sentences.map((_, at) => (at === part ? cut : (cuts.peek()[at] ?? null)));
  };
  const measure = (parts: readonly number[]) => {
    if (!model || !parts.length) return;
    message.value = `Measuring ${parts.length > 1 ? `${parts.length} cuts` : "the cut"} …`;
    const asked = parts.map((part) => ({ keys: keysOf(part), heads: null }));
    model.cut(name, asked, scope.signal).then((found) => {
      message.value = "";
      for (const [at, part] of parts.entries()) {
        keep(part, { changes: found[at], answer: cuts.peek()[part]?.answer ?? null });
      }
    }, fail);
  };
  scope.effect(() => {
    const part = without.value;
    const cut = part === null ? null : cuts.value[part];
    if (!model || part === null || !cut || cut.answer !== null) return;
    const settle = (text: string) => keep(part, { ...cut, answer: text });
    model.answer(name, keysOf(part), scope.signal).then(settle, fail);
  });
  return {
    cuts,
    without,
    live: Boolean(model),
    message,
    measure,
    toggle(part) {
      without.value = without.peek() === part ? null : part;
      if (!cuts.peek()[part]) measure([part]);
    },
    inHeads(part, heads) {
      const asked = heads.map((each) => ({ keys: keysOf(part), heads: each }));
      return model?.cut(name, asked, scope.signal) ?? null;
    },
  };
}
