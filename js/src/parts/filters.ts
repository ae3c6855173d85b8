/** What of the record is shown: which stack of layers, and of a text pair which part. */

import { effect } from "@preact/signals-core";
import type { Manifest } from "../data/manifest.ts";
import type { Segments } from "../state/choices.ts";
import { goToStack } from "../state/navigation.ts";
import { isPair } from "../state/shown.ts";
import type { State } from "../state/state.ts";
import { choice, type Option } from "./choice.ts";
import { disposeAll } from "./dispose.ts";
import { capitalized } from "./text.ts";

const SEGMENTS: readonly Option[] = [
  { value: "all", label: "All" },
  { value: "aa", label: "A → A" },
  { value: "ab", label: "A → B" },
  { value: "ba", label: "B → A" },
  { value: "bb", label: "B → B" },
];

export function filters(state: State, { stacks }: Manifest): [HTMLElement[], () => void] {
  const made: [HTMLElement, () => void][] = [];
  const several = stacks.length > 1;
  if (several) {
    const options = stacks.map(({ name }) => ({
      value: name,
      label: capitalized(name.replaceAll("_", " ")),
    }));
    made.push(
      choice({
        name: "Attention",
        options,
        value: () => state.shown.stack.value.name,
        set: (to) => goToStack(state, to),
      }),
    );
  }
  if (stacks.some(isPair)) {
    const [element, dispose] = choice({
      name: several ? "Segments" : "Attention",
      options: SEGMENTS,
      value: () => state.segments.value,
      set: (to) => {
        state.segments.value = to as Segments;
      },
    });
    const disposeHidden = effect(() => {
      element.hidden = !isPair(state.shown.stack.value);
    });
    made.push([element, disposeAll([dispose, disposeHidden])]);
  }
  return [made.map(([element]) => element), disposeAll(made.map(([, dispose]) => dispose))];
}
