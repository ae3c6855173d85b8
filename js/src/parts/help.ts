/** The help dialog: the keys, and what the pointer does. Opened with its button or "?". */

import { dialog } from "./dialog.ts";
import { button, el } from "./dom.ts";
import { iconButton } from "./icons.ts";

/** The effects of keys and the pointer, by what the reader does. */
type Entries = Readonly<Record<string, string>>;

/** @param enter what Enter does on a head */
const everywhere = (enter: string): Entries => ({
  "[ ]": "previous, next layer",
  ", .": "previous, next head",
  "↑ ↓ ← →": "move through tokens or heads (also Page Up, Page Down, Home, End)",
  Enter: `lock the token${enter}`,
  "x Shift+X": "switch the head, or every head of its layer, off and on again",
  "k Shift+K": "cut the link that is pointed at or locked in this head, or in all, or restore it",
  h: "the heads that link the locked query and key, ranked and coloured by its weight",
  Esc: "release what is locked; if nothing is, all heads and links on again",
  "/": "find a token; Enter and Shift+Enter go through what is found",
  c: "copy the numbers, for a spreadsheet",
  s: "save what is shown as a figure",
  "?": "this list",
});

const COMPARISON: Entries = { a: "record A", b: "record B", d: "their difference, B − A" };

const TO_HEAD: Entries = { "double-click": "go to its head view" };

const POINTER: Entries = {
  point: "look at a token, a cell or a head",
  click: "lock a token: several add up; again releases it",
  "click a cell": "lock a query and a key together",
  "Shift+click": "lock a token as a pair with the other column's (also Shift+Enter)",
  "Alt+click": "switch a head off, or cut the link of a cell or token; again restores",
};

/** Lists of entries by their titles. */
type Sections = Readonly<Record<string, Entries>>;

/** The part of a view that the help tells of. */
export interface Helped {
  readonly name: string;
  /** True if the view shows heads to choose from: Enter goes to one. */
  readonly ofHeads: boolean;
  /** The view's own keys, and its use of the pointer. */
  readonly help: Sections;
}

function sectionsOf(views: readonly Helped[], compared: boolean): Sections {
  const digits = views.map((_, index) => `${index + 1}`).join(" ");
  const names = views.map(({ name }) => name);
  const toHead = names.includes("head");
  const ofHeads = views.some((view) => view.ofHeads);
  const enter = toHead ? ", or go to the head's own view" : ", or open the head";
  const first: Entries = views.length > 1 ? { [digits]: `${names.join(", ")} view` } : {};
  const sections: Record<string, Entries> = {
    Keys: { ...first, ...everywhere(ofHeads ? enter : "") },
    ...(compared ? { Comparison: COMPARISON } : {}),
    Pointer: POINTER,
  };
  for (const { ofHeads, help } of views) {
    for (const [title, entries] of Object.entries(help)) {
      sections[title] = ofHeads && toHead ? { ...entries, ...TO_HEAD } : entries;
    }
  }
  return sections;
}

/**
 * @param showAround starts the tour
 * @param views the available views
 * @param compared true if two records are compared
 */
export function help(showAround: () => void, views: readonly Helped[], compared = false) {
  const opener = iconButton({ icon: "keyboard", name: "Keyboard", title: "Keyboard help (?)" });
  opener.setAttribute("aria-haspopup", "dialog");
  const lists = Object.entries(sectionsOf(views, compared)).map(([title, entries]) => {
    const list = el("dl", { "aria-label": title });
    for (const [does, meaning] of Object.entries(entries))
      list.append(el("dt", {}, does), el("dd", {}, meaning));
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
