/** What the reader can choose about the model view. */

import { computed } from "@preact/signals-core";
import { choice, type Option } from "../../parts/choice.ts";
import { el } from "../../parts/dom.ts";
import { capitalized } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { Choices, Color, Sort } from "../../state/choices.ts";
import type { State } from "../../state/state.ts";
import { measuresOf, name } from "./measures.ts";
import { knownChoice } from "./order.ts";
import { isSelf } from "./patterns.ts";

export function modelTools(scope: Scope, state: State): HTMLElement {
  const { stack } = state.shown;
  const thumbnails = choice(scope, {
    name: "Show",
    options: [
      { value: "matrix", label: "Matrix" },
      { value: "lines", label: "Lines" },
    ],
    value: () => state.thumbnails.value,
    set(value) {
      state.thumbnails.value = value as Choices["thumbnails"];
    },
  });
  const byNumber = el("div", { class: "tools" });
  // What can be chosen changes with the kind of attention, and with nothing else.
  const self = computed(() => isSelf(stack.value));
  scope.scopedEffect((own) => {
    self.value;
    const numbers: readonly Option[] = measuresOf(stack.peek()).map((measure) => ({
      value: measure,
      label: capitalized(name(measure)),
    }));
    const color = choice(own, {
      name: "Colour by",
      options: [
        { value: "pattern", label: "Pattern" },
        { value: "layer", label: "Layer" },
        ...numbers,
      ],
      value: () => knownChoice<Color>(state.color.value, stack.value, ["pattern", "layer"]),
      set(value) {
        state.color.value = value as Color;
      },
    });
    const sort = choice(own, {
      name: "Sort heads",
      options: [{ value: "model", label: "As in model" }, ...numbers],
      value: () => knownChoice<Sort>(state.sort.value, stack.value, ["model"]),
      set(value) {
        state.sort.value = value as Sort;
      },
    });
    byNumber.replaceChildren(color, sort);
  });
  return el("div", { class: "tools" }, byNumber, thumbnails);
}
