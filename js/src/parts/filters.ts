/** The filters of the header: the stack of layers, and the segments of a text pair. */

import type { Manifest } from "../data/manifest.ts";
import type { Scope } from "../scheduling/scope.ts";
import { goToStack } from "../state/navigation.ts";
import { isPair } from "../state/shown.ts";
import type { State } from "../state/state.ts";
import { choice, optionChoice } from "./choice.ts";
import { capitalized } from "./text.ts";

const SEGMENTS = { all: "All", aa: "A → A", ab: "A → B", ba: "B → A", bb: "B → B" };

export function filters(scope: Scope, state: State, { stacks }: Manifest): HTMLElement[] {
  const shown: HTMLElement[] = [];
  const several = stacks.length > 1;
  if (several) {
    const options = stacks.map(({ name }) => ({
      value: name,
      label: capitalized(name.replaceAll("_", " ")),
    }));
    shown.push(
      choice(scope, {
        name: "Attention",
        options,
        value: () => state.shown.stack.value.name,
        set: (to) => goToStack(state, to),
      }),
    );
  }
  if (stacks.some(isPair)) {
    const name = several ? "Segments" : "Attention";
    const segments = optionChoice(scope, state, name, "segments", SEGMENTS);
    scope.effect(() => {
      segments.hidden = !isPair(state.shown.stack.value);
    });
    shown.push(segments);
  }
  return shown;
}
