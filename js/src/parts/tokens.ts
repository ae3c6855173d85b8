/** A column of tokens that can be hovered, walked through with arrows, and locked. */

import { effect, type ReadonlySignal } from "@preact/signals-core";
import type { Tokens } from "../data/manifest.ts";
import { type Place, type State, toggleLock } from "../state.ts";
import { disposeAll } from "./dispose.ts";
import { el } from "./dom.ts";
import { tokenNames } from "./names.ts";

export interface TokenColumnOptions {
  readonly side: "query" | "key";
  readonly tokens: Tokens;
  readonly state: State;
  readonly rowHeight: number;
  /** The positions shown, top to bottom. */
  readonly positions: readonly number[];
  /** How strongly each position takes part in what is shown, 0 to 1; null for all alike. */
  readonly emphasis: ReadonlySignal<Float32Array | null>;
  /** What a lock on a token locks. */
  place(position: number): Place;
}

/** Rows as high as the design has them, lower for long texts. */
export const rowHeight = (tokens: number) => Math.max(16, Math.min(28, Math.floor(720 / tokens)));

export const tokenFontSize = (rowHeight: number) => Math.min(14, rowHeight * 0.72);

/** The opacity of text that takes no part: the least that keeps a contrast of 4.5. */
const FADED = 0.62;

const NAMES = { query: "Queries", key: "Keys" };

export function tokenColumn(options: TokenColumnOptions): [HTMLElement, () => void] {
  const { side, tokens, state, positions, rowHeight, place } = options;
  const names = tokenNames(tokens);
  const special = new Set(tokens.special);
  const list = el("div", {
    class: `tokens ${side}`,
    role: "listbox",
    tabindex: 0,
    "aria-label": NAMES[side],
  });
  list.style.fontSize = `${tokenFontSize(rowHeight)}px`;
  const rows = positions.map((position) => {
    const label = tokens.labels[position];
    const text = el("span", { dir: "auto" }, label);
    const row = el(
      "div",
      {
        role: "option",
        id: `${side}-${position}`,
        title: names[position],
        class: special.has(position) && "special",
      },
      text,
    );
    row.style.height = `${rowHeight}px`;
    row.dataset.position = `${position}`;
    return row;
  });
  list.append(...rows);

  const lookAt = (position: number) => {
    state.hover.value = { query: null, key: null, [side]: position };
  };
  const positionOf = (event: Event) => {
    const row = (event.target as Element).closest<HTMLElement>("[role=option]");
    return row ? Number(row.dataset.position) : null;
  };
  // Not "pointerover", which also comes when the list scrolls by under a pointer that rests.
  list.addEventListener("pointermove", (event) => {
    const position = positionOf(event);
    if (position !== null && position !== state.hover.peek()?.[side]) lookAt(position);
  });
  list.addEventListener("pointerleave", () => {
    state.hover.value = null;
  });
  list.addEventListener("click", (event) => {
    const position = positionOf(event);
    if (position !== null) toggleLock(state, place(position));
  });
  list.addEventListener("keydown", (event) => {
    const at = positions.indexOf(state.focus.peek()[side] ?? state.cursor[side]);
    const last = positions.length - 1;
    const to = {
      ArrowDown: Math.min(at + 1, last),
      ArrowUp: at < 0 ? last : Math.max(at - 1, 0),
      Home: 0,
      End: last,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      state.cursor[side] = positions[to];
      lookAt(positions[to]);
      rows[to].scrollIntoView({ block: "nearest" });
    } else if ((event.key === "Enter" || event.key === " ") && at >= 0) {
      event.preventDefault();
      toggleLock(state, place(positions[at]));
    }
  });
  list.addEventListener("blur", () => {
    state.hover.value = null;
  });

  const disposers = [
    effect(() => {
      const focused = state.focus.value[side];
      const locked = state[side].value;
      rows.forEach((row, index) => {
        row.classList.toggle("focused", positions[index] === focused);
        row.setAttribute("aria-selected", `${positions[index] === locked}`);
      });
      if (focused === null) list.removeAttribute("aria-activedescendant");
      else list.setAttribute("aria-activedescendant", `${side}-${focused}`);
    }),
    effect(() => {
      const emphasis = options.emphasis.value;
      list.classList.toggle("faded", emphasis !== null);
      rows.forEach((row, index) => {
        const text = row.firstElementChild as HTMLElement;
        text.style.opacity = emphasis ? `${FADED + (1 - FADED) * emphasis[positions[index]]}` : "";
      });
    }),
  ];
  return [list, disposeAll(disposers)];
}
