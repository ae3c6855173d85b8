/** The filters in the header: the stack, the segments of a text, and special tokens. */

import { type Manifest, ownStacks } from "../data/manifest.ts";
import { choiceOf, isPair, leavesOut, partsOf } from "../data/shown.ts";
import type { Scope } from "../scheduling/scope.ts";
import { goToStack } from "../state/navigation.ts";
import type { State } from "../state/state.ts";
import { choice, type Option, toggle } from "./choice.ts";
import { capitalized } from "./text.ts";

const SEGMENTS: readonly Option[] = [
  { value: "all", label: "All" },
  { value: "aa", label: "A → A" },
  { value: "ab", label: "A → B" },
  { value: "ba", label: "B → A" },
  { value: "bb", label: "B → B" },
];

export function filters(scope: Scope, state: State, manifest: Manifest): HTMLElement[] {
  const stacks = ownStacks(manifest);
  const shown: HTMLElement[] = [];
  const several = stacks.length > 1;
  if (several) {
    const options = stacks.map(({ name }) => ({
      value: name,
      label: capitalized(name.replaceAll("_", " ")),
    }));
    const bound = {
      get value() {
        return state.stack.value;
      },
      set value(name) {
        goToStack(state, name);
      },
    };
    shown.push(choice(scope, "Attention", options, bound));
  }
  const options = (): Option[] => [
    ...SEGMENTS.filter(({ value }) => value === "all" || isPair(state.shown.stack.value)),
    ...state.named_segments.value.flatMap(([start, end, name]) => [
      { value: `from:${start}-${end}`, label: `From ${name}` },
      { value: `to:${start}-${end}`, label: `To ${name}` },
    ]),
  ];
  const segments = choice(scope, several ? "Segments" : "Attention", options, {
    get value() {
      return partsOf(state.segments.value)[1];
    },
    set value(to) {
      state.segments.value = choiceOf(partsOf(state.segments.value)[0], to);
    },
  });
  const hide = toggle(
    scope,
    "Hide special",
    "Leave out special tokens, as [CLS], <s>, <|im_end|>",
    {
      get value() {
        return partsOf(state.segments.value)[0];
      },
      set value(to) {
        state.segments.value = choiceOf(to, partsOf(state.segments.value)[1]);
      },
    },
  );
  scope.effect(() => {
    segments.hidden = options().length < 2;
    hide.hidden = !leavesOut("content", state.shown.stack.value);
  });
  return [...shown, segments, hide];
}
