/** What of the record is shown: which stack of layers, and of a text pair which part. */

import { effect } from "@preact/signals-core";
import type { Manifest } from "../data/manifest.ts";
import { goToStack, isPair, type Segments, type State } from "../state.ts";
import { disposeAll } from "./dispose.ts";
import { el } from "./dom.ts";
import { capitalized } from "./text.ts";

const SEGMENTS: readonly Option[] = [
  { value: "all", label: "All" },
  { value: "aa", label: "A → A" },
  { value: "ab", label: "A → B" },
  { value: "ba", label: "B → A" },
  { value: "bb", label: "B → B" },
];

interface Option {
  readonly value: string;
  readonly label: string;
}

export function filters(state: State, { stacks }: Manifest): [HTMLElement[], () => void] {
  const made: [HTMLElement, () => void][] = [];
  const several = stacks.length > 1;
  if (several) {
    const options = stacks.map(({ name }) => ({
      value: name,
      label: capitalized(name.replaceAll("_", " ")),
    }));
    made.push(
      filter(
        "Attention",
        options,
        () => state.shown.stack.value.name,
        (to) => goToStack(state, to),
      ),
    );
  }
  if (stacks.some(isPair)) {
    const [element, dispose] = filter(
      several ? "Segments" : "Attention",
      SEGMENTS,
      () => state.segments.value,
      (to) => {
        state.segments.value = to as Segments;
      },
    );
    const disposeHidden = effect(() => {
      // The model view's thumbnails are of whole heads.
      element.hidden = state.view.value === "model" || !isPair(state.shown.stack.value);
    });
    made.push([element, disposeAll([dispose, disposeHidden])]);
  }
  return [made.map(([element]) => element), disposeAll(made.map(([, dispose]) => dispose))];
}

function filter(
  name: string,
  options: readonly Option[],
  value: () => string,
  set: (value: string) => void,
): [HTMLElement, () => void] {
  const select = el("select", { "aria-label": name });
  for (const { value, label } of options) select.append(el("option", { value }, label));
  select.addEventListener("change", () => set(select.value));
  const label = el("span", { class: "label" }, name);
  const dispose = effect(() => {
    select.value = value();
  });
  return [el("label", { class: "control" }, label, select), dispose];
}
