/** The controls of the model view. */

import { choice, type Option } from "../../parts/choice.ts";
import { el } from "../../parts/dom.ts";
import { capitalized } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { Choices } from "../../state/choices.ts";
import type { State } from "../../state/state.ts";

export function modelTools(scope: Scope, state: State): HTMLElement {
  const { metrics } = state.shown;
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
  scope.scopedEffect((own) => {
    const numbers: readonly Option[] = metrics.value.map(({ name, label, description }) => ({
      value: name,
      label: capitalized(label),
      title: description,
    }));
    const known = (choice: string, plain: string) =>
      numbers.some(({ value }) => value === choice) ? choice : plain;
    const color = choice(own, {
      name: "Colour by",
      options: [
        { value: "pattern", label: "Pattern" },
        { value: "layer", label: "Layer" },
        ...numbers,
      ],
      value: () => (state.color.value === "layer" ? "layer" : known(state.color.value, "pattern")),
      set(value) {
        state.color.value = value;
      },
    });
    const sort = choice(own, {
      name: "Sort heads",
      options: [{ value: "model", label: "As in model" }, ...numbers],
      value: () => known(state.sort.value, "model"),
      set(value) {
        state.sort.value = value;
      },
    });
    byNumber.replaceChildren(color, sort);
  });
  return el("div", { class: "tools" }, byNumber, thumbnails);
}
