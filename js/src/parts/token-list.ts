/** Tokens in a column or in a line, that can be pointed at, walked through with arrows, and locked. */

import { effect, type ReadonlySignal } from "@preact/signals-core";
import type { Side } from "../state.ts";
import { disposeAll } from "./dispose.ts";
import { el } from "./dom.ts";
import { shorten, textMeasure } from "./text.ts";
import type { Track } from "./track.ts";

export interface TokenListOptions {
  readonly side: Side;
  readonly labels: readonly string[];
  /** A name for each, each of them once. */
  readonly names: readonly string[];
  readonly special: readonly number[];
  /** Which of them are shown, in order. */
  readonly shown: readonly number[];
  /** The position by which the state knows one. */
  position(index: number): number;
  readonly horizontal: boolean;
  readonly track: Track;
  /** Width of the column, or height of the line. */
  readonly across: number;
  readonly fontSize: number;
  /** How strongly each takes part in what is shown, 0 to 1; null for all alike. */
  readonly emphasis: ReadonlySignal<ArrayLike<number> | null>;
  readonly looked: ReadonlySignal<readonly number[]>;
  readonly locked: ReadonlySignal<readonly number[]>;
  readonly found: ReadonlySignal<readonly number[]>;
  look(index: number | null): void;
  toggle(index: number, event: MouseEvent | KeyboardEvent): void;
  /** Where the keyboard was last, kept for when it comes back. */
  readonly cursor: { at: number };
}

/** The opacity of text that takes no part: the least that keeps a contrast of 4.5. */
const FADED = 0.62;

const NAMES: Readonly<Record<Side, string>> = { query: "Queries", key: "Keys" };

/** Left and right of a label. */
export const PADDING = 8;

export function tokenList(options: TokenListOptions): [HTMLElement, () => void] {
  const { side, labels, names, shown, horizontal, track, across } = options;
  const special = new Set(options.special);
  const list = el("div", {
    class: `tokens ${side} ${horizontal ? "line" : "column"}`,
    role: "listbox",
    tabindex: 0,
    "aria-label": NAMES[side],
    "aria-orientation": horizontal ? "horizontal" : "vertical",
    "aria-multiselectable": "true",
  });
  list.style.fontSize = `${options.fontSize}px`;
  // As wide as the heavier face of a locked token.
  const measure = textMeasure(`600 ${options.fontSize}px system-ui, sans-serif`);
  const rows = shown.map((index, at) => {
    const room = (horizontal ? track.size(at) : across) - 2 * PADDING;
    const text = el("span", { dir: "auto" }, shorten(labels[index], room, measure));
    const row = el(
      "div",
      {
        role: "option",
        id: `${side}-${options.position(index)}`,
        title: names[index],
        // The whole label, also where it is shortened.
        "aria-label": text.textContent === labels[index] ? null : labels[index],
        class: special.has(index) && "special",
      },
      text,
    );
    row.style[horizontal ? "width" : "height"] = `${track.size(at)}px`;
    row.dataset.index = `${index}`;
    return row;
  });
  list.append(...rows);

  const indexOf = (event: Event) => {
    const row = (event.target as Element).closest<HTMLElement>("[role=option]");
    return row ? Number(row.dataset.index) : null;
  };
  let pointed: number | null = null;
  const look = (index: number | null) => {
    pointed = index;
    options.look(index);
  };
  // Not "pointerover", which also comes when the list scrolls by under a pointer that rests.
  list.addEventListener("pointermove", (event) => {
    const index = indexOf(event);
    if (index !== null && (index !== pointed || !options.looked.peek().includes(index)))
      look(index);
  });
  list.addEventListener("pointerleave", () => look(null));
  list.addEventListener("click", (event) => {
    const index = indexOf(event);
    if (index !== null) options.toggle(index, event);
  });
  list.addEventListener("keydown", (event) => {
    const { cursor } = options;
    const at = shown.indexOf(pointed ?? options.looked.peek().at(-1) ?? cursor.at);
    const last = shown.length - 1;
    const [back, on] = horizontal ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const to = {
      [on]: Math.min(at + 1, last),
      [back]: at < 0 ? last : Math.max(at - 1, 0),
      Home: 0,
      End: last,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      cursor.at = shown[to];
      look(shown[to]);
      rows[to].scrollIntoView({ block: "nearest", inline: "nearest" });
    } else if ((event.key === "Enter" || event.key === " ") && at >= 0) {
      event.preventDefault();
      options.toggle(shown[at], event);
    }
  });
  list.addEventListener("blur", () => look(null));

  const disposers = [
    effect(() => {
      const looked = options.looked.value;
      const locked = new Set(options.locked.value);
      rows.forEach((row, at) => {
        row.classList.toggle("focused", looked.includes(shown[at]));
        row.setAttribute("aria-selected", `${locked.has(shown[at])}`);
      });
      const active = looked.at(-1);
      if (active === undefined) list.removeAttribute("aria-activedescendant");
      else list.setAttribute("aria-activedescendant", `${side}-${options.position(active)}`);
    }),
    effect(() => {
      const found = new Set(options.found.value);
      rows.forEach((row, at) => {
        row.classList.toggle("found", found.has(shown[at]));
      });
    }),
    effect(() => {
      const emphasis = options.emphasis.value;
      list.classList.toggle("faded", emphasis !== null);
      rows.forEach((row, at) => {
        const text = row.firstElementChild as HTMLElement;
        const part = emphasis ? Math.min(1, emphasis[shown[at]]) : 1;
        text.style.opacity = emphasis ? `${FADED + (1 - FADED) * part}` : "";
      });
    }),
  ];
  return [list, disposeAll(disposers)];
}
