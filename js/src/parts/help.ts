/** The list of keys, opened with its button or with "?". */

import { el } from "./dom.ts";

const KEYS: readonly (readonly [string, string])[] = [
  ["click", "lock a token, or a pair in the matrix"],
  ["double-click", "one head alone; in the model view, open it"],
  ["1 2 3", "head, model, neuron view"],
  ["[ ]", "previous, next layer"],
  [", .", "previous, next head"],
  ["↑ ↓ ← →", "move through tokens or heads"],
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
