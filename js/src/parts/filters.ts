/** The filters in the header: the stack, and the segments of a text pair. */

import { type Manifest, ownStacks } from "../data/manifest.ts";
import type { Scope } from "../scheduling/scope.ts";
import { goToStack } from "../state/navigation.ts";
import { isPair } from "../state/shown.ts";
import type { State } from "../state/state.ts";
import { choice, optionsOf } from "./choice.ts";
import { capitalized } from "./text.ts";

const SEGMENTS = { all: "All", aa: "A → A", ab: "A → B", ba: "B → A", bb: "B → B" };

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
  if (stacks.some(isPair)) {
    const name = several ? "Segments" : "Attention";
    const segments = choice(scope, name, optionsOf<"segments">(SEGMENTS), state.segments);
    scope.effect(() => {
      segments.hidden = !isPair(state.shown.stack.value);
    });
    shown.push(segments);
  }
  return shown;
}
