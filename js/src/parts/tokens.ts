/** A column of tokens that can be hovered, walked through with arrows, and locked. */

import { effect, type ReadonlySignal } from "@preact/signals-core";
import type { Tokens } from "../data/manifest.ts";
import { type State, toggleLock } from "../state.ts";
import { disposeAll } from "./dispose.ts";
import { el } from "./dom.ts";

export interface TokenColumnOptions {
  readonly side: "query" | "key";
  readonly tokens: Tokens;
  readonly state: State;
  readonly rowHeight: number;
  /** The positions shown, top to bottom. */
  readonly positions: readonly number[];
  /** How strongly each position takes part in what is shown, 0 to 1; null for all alike. */
  readonly emphasis: ReadonlySignal<Float32Array | null>;
}

/** Rows as high as the design has them, lower for long texts. */
export const rowHeight = (tokens: number) => Math.max(16, Math.min(28, Math.floor(720 / tokens)));

export const tokenFontSize = (rowHeight: number) => Math.min(14, rowHeight * 0.72);

const NAMES = { query: "Queries", key: "Keys" };

export function tokenColumn(options: TokenColumnOptions): [HTMLElement, () => void] {
  const { side, tokens, state, positions, rowHeight } = options;
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
        title: label,
        class: special.has(position) && "special",
      },
      text,
    );
    row.style.height = `${rowHeight}px`;
    row.dataset.position = `${position}`;
    return row;
  });
  list.append(...rows);

  const place = (position: number) =>
    side === "query" ? { query: position, key: null } : { query: null, key: position };
  const positionOf = (event: Event) => {
    const row = (event.target as Element).closest<HTMLElement>("[role=option]");
    return row ? Number(row.dataset.position) : null;
  };
  list.addEventListener("pointerover", (event) => {
    const position = positionOf(event);
    if (position !== null) state.hover.value = place(position);
  });
  list.addEventListener("pointerleave", () => {
    state.hover.value = null;
  });
  list.addEventListener("click", (event) => {
    const position = positionOf(event);
    if (position !== null) toggleLock(state, side, position);
  });
  list.addEventListener("keydown", (event) => {
    const at = positions.indexOf(state.focus.peek()[side] ?? -1);
    const last = positions.length - 1;
    const to = {
      ArrowDown: Math.min(at + 1, last),
      ArrowUp: at < 0 ? last : Math.max(at - 1, 0),
      Home: 0,
      End: last,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      state.hover.value = place(positions[to]);
      rows[to].scrollIntoView({ block: "nearest" });
    } else if ((event.key === "Enter" || event.key === " ") && at >= 0) {
      event.preventDefault();
      toggleLock(state, side, positions[at]);
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
      rows.forEach((row, index) => {
        const text = row.firstElementChild as HTMLElement;
        text.style.opacity = emphasis ? `${0.42 + 0.58 * emphasis[positions[index]]}` : "";
      });
    }),
  ];
  return [list, disposeAll(disposers)];
}
