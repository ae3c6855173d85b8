/** The list of keys, opened with its button or with "?". */

import { el } from "./dom.ts";

const KEYS: readonly (readonly [string, string])[] = [
  ["1 2 3", "head, model, neuron view"],
  ["[ ]", "layer before, after"],
  [", .", "head before, after"],
  ["↑ ↓", "move through tokens"],
  ["Enter", "lock the token, or open the head"],
  ["Esc", "release"],
  ["?", "this list"],
];

export function help(): {
  button: HTMLElement;
  panel: HTMLElement;
  toggle(open?: boolean): boolean;
} {
  const button = el(
    "button",
    {
      type: "button",
      class: "icon",
      "aria-label": "Keyboard",
      title: "Keyboard (?)",
      "aria-expanded": "false",
    },
    "⌨",
  );
  const list = el("dl", {});
  for (const [key, meaning] of KEYS) list.append(el("dt", {}, key), el("dd", {}, meaning));
  const panel = el(
    "div",
    { class: "help", hidden: true, role: "note", "aria-label": "Keys" },
    list,
  );
  /** Opens, closes or flips the list; says whether anything changed. */
  const toggle = (open = panel.hidden) => {
    const changed = panel.hidden === open;
    panel.hidden = !open;
    button.setAttribute("aria-expanded", `${open}`);
    return changed;
  };
  button.addEventListener("click", () => toggle());
  return { button, panel, toggle };
}
