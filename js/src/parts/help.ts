/** The help dialog: the keys, and what the pointer does. Opened with its button or "?". */

import { VIEWS, type ViewName } from "../state/choices.ts";
import { dialog } from "./dialog.ts";
import { button, el } from "./dom.ts";
import { iconButton } from "./icons.ts";

type Entries = readonly (readonly [does: string, meaning: string])[];

/** @param enter what Enter does on a head */
const everywhere = (enter: string): Entries => [
  ["[ ]", "previous, next layer"],
  [", .", "previous, next head"],
  ["↑ ↓ ← →", "move through tokens or heads (also Page Up, Page Down, Home, End)"],
  ["Enter", `lock the token${enter}`],
  ["x Shift+X", "switch the head, or every head of its layer, off and on again"],
  ["k Shift+K", "cut the link that is pointed at or locked in this head, or in all, or restore it"],
  ["Esc", "release what is locked; if nothing is, all heads and links on again"],
  ["/", "find a token; Enter and Shift+Enter go through what is found"],
  ["c", "copy the numbers, for a spreadsheet"],
  ["s", "save what is shown as a figure"],
  ["?", "this list"],
];

const COMPARISON: Entries = [
  ["a", "record A"],
  ["b", "record B"],
  ["d", "their difference, B − A"],
];

const POINTER: Entries = [
  ["point", "look at a token, a cell or a head"],
  ["click", "lock a token: several add up; again releases it"],
  ["click a cell", "lock a query and a key together"],
  ["Shift+click", "lock a token as a pair with the other column's (also Shift+Enter)"],
  ["Alt+click", "switch a head off, or cut the link of a cell or token; again restores"],
];

const HEAD: Entries = [
  ["v", "the next weighting: attention, value-weighted, rollout"],
  ["j Shift+J", "the strongest links of the matrix, one after the other"],
  ["point at a strip", "look at a token of the whole text; with a query locked, at its weight"],
  ["press a strip", "go there; drag to go through the text"],
  ["click a swatch", "show or hide a head"],
  ["double-click", "this head alone; again, all of them"],
  ["Shift+click", "all heads from the last one clicked to this one"],
];

const PICTURE: Entries = [
  ["↑ ↓ ← →", "from patch to patch, while an image has the focus"],
  ["Shift+C", "to [CLS], or the first token without a patch"],
  ["click a map", "show this head"],
];

const MATRIX: Entries = [
  ["Ctrl+wheel, pinch", "zoom at the pointer (⌘ on a Mac; also a double-click)"],
  ["drag", "move the part that is shown"],
  ["+ − 0", "zoom in, out, show all of it, while it has the focus"],
  ["↑ ↓ ← →", "move the part, while it has the focus"],
];

const MODEL: Entries = [
  ["v", "thumbnails of attention, or value-weighted"],
  ["click", "open a head in its place (also Space)"],
  ["↑ ↓", "the next head, while the ranking has the focus; Enter opens it"],
];

const MAP: Entries = [
  ["↑ ↓ ← →", "the nearest head in that direction; Enter chooses it, and again opens it"],
  ["/", "find a head, as 2-9"],
  ["r", "show or hide the heads of the null, as random weights"],
  ["Shift+drag", "mark heads; the others fade; Esc releases them"],
];

const TO_HEAD: Entries = [["double-click", "go to its head view"]];

const NEURON: Entries = [
  ["j Shift+J", "the strongest keys of the query, one after the other"],
  ["click q × k", "mute a neuron, the strongest of narrow ones; drag for several; again restores"],
  ["Shift+click", "compare a second query with the first (also Shift+Enter)"],
  ["Enter, Shift+← →", "on neurons: mute one, or several; Esc restores"],
];

type Section = readonly [title: string, entries: Entries];

function sectionsOf(views: readonly ViewName[], compared: boolean): readonly Section[] {
  const digits = views.map((_, index) => `${index + 1}`).join(" ");
  const head = views.includes("head");
  const to = head ? "go to the head's own view" : "open the head";
  const ofHeads = views.some((name) => name === "model" || name === "map");
  const enter = ofHeads ? `, or ${to}` : "";
  const sections: Record<ViewName, readonly Section[]> = {
    head: [
      ["Head view", HEAD],
      ["Image of a vision model", PICTURE],
      ["Matrix of a long text", MATRIX],
    ],
    model: [["Model view", head ? [...MODEL, ...TO_HEAD] : MODEL]],
    neuron: [["Neuron view", NEURON]],
    map: [["Map", head ? [...MAP, ...TO_HEAD] : MAP]],
  };
  const first: Entries = views.length > 1 ? [[digits, `${views.join(", ")} view`]] : [];
  return [
    ["Keys", [...first, ...everywhere(enter)]],
    ...(compared ? [["Comparison", COMPARISON] as const] : []),
    ["Pointer", POINTER],
    ...views.flatMap((name) => sections[name]),
  ];
}

export interface Help {
  readonly button: HTMLButtonElement;
  readonly panel: HTMLDialogElement;
  toggle(open?: boolean): void;
}

/**
 * @param showAround starts the tour
 * @param views the available views
 * @param compared true if two records are compared
 */
export function help(
  showAround: () => void,
  views: readonly ViewName[] = VIEWS,
  compared = false,
): Help {
  const opener = iconButton({ icon: "keyboard", name: "Keyboard", title: "Keyboard help (?)" });
  opener.setAttribute("aria-haspopup", "dialog");
  const lists = sectionsOf(views, compared).map(([title, entries]) => {
    const list = el("dl", { "aria-label": title });
    for (const [does, meaning] of entries) list.append(el("dt", {}, does), el("dd", {}, meaning));
    return el("section", {}, el("h2", {}, title), list);
  });
  const around = button({ class: "control" }, "Show me around", () => {
    toggle(false);
    showAround();
  });
  const { element: panel, toggle } = dialog("Keyboard and pointer", around, ...lists);
  opener.addEventListener("click", () => toggle());
  panel.addEventListener("keydown", (event) => {
    // Ignore the repeats of the key press that opened it.
    if (event.key === "?" && !event.repeat) toggle(false);
  });
  return { button: opener, panel, toggle };
}
