/** The list of keys and of what the pointer does, opened with its button or with "?". */

import { dialog } from "./dialog.ts";
import { el } from "./dom.ts";
import { iconButton } from "./icons.ts";

type Entries = readonly (readonly [does: string, meaning: string])[];

const EVERYWHERE: Entries = [
  ["1 2 3", "head, model, neuron view"],
  ["[ ]", "previous, next layer"],
  [", .", "previous, next head"],
  ["↑ ↓ ← →", "move through tokens or heads (also Page Up, Page Down, Home, End)"],
  ["Enter", "lock the token, or go to the head's own view"],
  ["Esc", "release what is locked"],
  ["/", "find a token; Enter and Shift+Enter go through what is found"],
  ["c", "copy the numbers, for a spreadsheet"],
  ["?", "this list"],
];

const POINTER: Entries = [
  ["point", "look at a token, a cell or a head"],
  ["click", "lock a token: several add up; again releases it"],
  ["click a cell", "lock a query and a key together"],
  ["Shift+click", "lock a token as a pair with the other column's (also Shift+Enter)"],
];

const HEAD: Entries = [
  ["j Shift+J", "the strongest links of the matrix, one after the other"],
  ["point at a strip", "look at a token of the whole text; with a query locked, at its weight"],
  ["press a strip", "go there; drag to go through the text"],
  ["click a swatch", "show or hide a head"],
  ["double-click", "this head alone; again, all of them"],
  ["Shift+click", "all heads from the last one clicked to this one"],
];

const MATRIX: Entries = [
  ["Ctrl+wheel, pinch", "zoom at the pointer (⌘ on a Mac; also a double-click)"],
  ["drag", "move the part that is shown"],
  ["+ − 0", "zoom in, out, show all of it, while it has the focus"],
  ["↑ ↓ ← →", "move the part, while it has the focus"],
];

const MODEL: Entries = [
  ["click", "open a head in its place (also Space)"],
  ["double-click", "go to its head view"],
];

const NEURON: Entries = [
  ["j Shift+J", "the strongest keys of the query, one after the other"],
  ["click q × k", "mute a neuron; drag for several; again restores"],
  ["Shift+click", "compare a second query with the first (also Shift+Enter)"],
  ["Enter, Shift+← →", "on neurons: mute one, or several; Esc restores"],
];

const SECTIONS: readonly (readonly [title: string, entries: Entries])[] = [
  ["Keys", EVERYWHERE],
  ["Pointer", POINTER],
  ["Head view", HEAD],
  ["Matrix of a long text", MATRIX],
  ["Model view", MODEL],
  ["Neuron view", NEURON],
];

export interface Help {
  readonly button: HTMLButtonElement;
  readonly panel: HTMLDialogElement;
  toggle(open?: boolean): void;
}

export function help(): Help {
  const button = iconButton({ icon: "keyboard", name: "Keyboard", title: "Keyboard help (?)" });
  button.setAttribute("aria-haspopup", "dialog");
  const lists = SECTIONS.map(([title, entries]) => {
    const list = el("dl", { "aria-label": title });
    for (const [does, meaning] of entries) list.append(el("dt", {}, does), el("dd", {}, meaning));
    return el("section", {}, el("h2", {}, title), list);
  });
  const { element: panel, toggle } = dialog("Keyboard and pointer", ...lists);
  button.addEventListener("click", () => toggle());
  panel.addEventListener("keydown", (event) => {
    if (event.key === "?") toggle(false);
  });
  return { button, panel, toggle };
}
