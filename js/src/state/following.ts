/** The consequences of a choice for others: the rules of `attnwidget/view_state/following.py`. */

import { layerOf, type StackInfo } from "../data/manifest.ts";
import type { Choices } from "./choices.ts";

/** The part of a stack that choices depend on. */
export type StackShape = Pick<StackInfo, "layers"> & {
  readonly [Side in "queries" | "keys"]: Pick<StackInfo[Side], "labels">;
};

/**
 * Choices that change with another one, so that all name existing layers, heads and tokens.
 *
 * Stacks differ in layers and tokens, and layers in heads. The current head is always among those
 * that are drawn: another one takes its place there, and if it is not drawn any more, the nearest
 * that is becomes the current one.
 *
 * @param stack the stack shown after the change.
 * @param before the values of all choices before it.
 * @param name the choice that changes.
 * @param value its new value.
 */
export function following<Name extends keyof Choices>(
  stack: StackShape,
  before: Choices,
  name: Name,
  value: Choices[Name],
): Partial<Choices> {
  const chosen: Choices = { ...before, [name]: value };
  const follow: Partial<Choices> = {};
  if (name === "stack" || name === "layer") {
    const { number, heads } = layerOf(stack, chosen.layer);
    follow.layer = number;
    follow.heads = kept(chosen.heads, (head) => head < heads);
    follow.head = nearestDrawn(Math.min(chosen.head, heads - 1), follow.heads);
  }
  if (name === "heads") follow.head = nearestDrawn(chosen.head, chosen.heads);
  if (name === "head") follow.heads = withReplaced(chosen.heads, before.head, chosen.head);
  if (name === "stack") {
    const most = Math.max(...stack.layers.map(({ heads }) => heads));
    const numbers = stack.layers.map(({ number }) => number);
    follow.query = position(chosen.query, stack.queries.labels.length);
    follow.key = position(chosen.key, stack.keys.labels.length);
    follow.include_layers = kept(chosen.include_layers, (layer) => numbers.includes(layer));
    follow.include_heads = kept(chosen.include_heads, (head) => head < most);
    // The heads and the tokens of another stack are others.
    follow.off = [];
    follow.cut = [];
    follow.named_segments = [];
    follow.grid = null;
    if (chosen.parts === "named") follow.parts = "sentences";
    const words = chosen.segments.split(" ").filter((word) => !word.includes(":"));
    follow.segments = words.join(" ") || "all";
  }
  // Part 7 of another text, or of another kind, is another one.
  if (name === "stack" || name === "parts") {
    follow.part = null;
    follow.cut_part = null;
  }
  if (name === "stack" || name === "query" || name === "key") {
    follow.also = also(stack, before, { ...chosen, ...follow });
  }
  if (name === "stack" || name === "layer" || (follow.head ?? chosen.head) !== before.head) {
    // Neuron 7 of one head has nothing to do with neuron 7 of another.
    follow.muted = [];
  }
  return follow;
}

/** The numbers that still exist; null, which means all, if none does. */
function kept(
  numbers: readonly number[] | null,
  isThere: (number: number) => boolean,
): readonly number[] | null {
  const left = numbers?.filter(isThere);
  return left?.length ? left : null;
}

/** The head, or the nearest one that is drawn; all are if `drawn` is null. */
function nearestDrawn(head: number, drawn: readonly number[] | null): number {
  if (!drawn?.length) return head;
  return drawn.reduce((best, other) =>
    Math.abs(other - head) < Math.abs(best - head) ? other : best,
  );
}

/** The heads drawn, with a new one instead of an old one if it is not among them. */
function withReplaced(
  drawn: readonly number[] | null,
  old: number,
  to: number,
): readonly number[] | null {
  if (!drawn?.length) return null;
  if (drawn.includes(to)) return drawn;
  return [...drawn.filter((head) => head !== old), to].sort((a, b) => a - b);
}

const position = (at: number | null, count: number): number | null =>
  at === null || at >= count ? null : at;

/** The tokens that stay locked together: queries do not become keys, nor keys queries. */
function also(stack: StackShape, before: Choices, after: Choices): readonly number[] {
  const byKey = after.query === null;
  const [own, { labels }] = byKey ? [after.key, stack.keys] : [after.query, stack.queries];
  const turned = byKey !== (before.query === null) && after.key !== null;
  if (own === null || turned) return [];
  return after.also.filter((at) => at < labels.length && at !== own);
}
