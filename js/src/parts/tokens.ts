/** Listboxes of tokens in a column or a line, for pointer and keyboard. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import type { Tokens } from "../data/manifest.ts";
import { paintCanvas } from "../painting/canvas.ts";
import { fadeInFigures } from "../painting/element.ts";
import type { Painter } from "../painting/painter.ts";
import type { Scope } from "../scheduling/scope.ts";
import { lockedOn } from "../state/locks.ts";
import type { Side, State } from "../state/state.ts";
import type { Palette } from "../styles/palette.ts";
import { el, setAttributes } from "./dom.ts";
import { matches } from "./find.ts";
import { fontOf, shorten, textMeasure, tokenNames } from "./text.ts";
import { placesOf, type Track, uniformTrack } from "./track.ts";

/** One object, so that a list without focus is not updated while the other one is hovered. */
const NONE: readonly number[] = [];

type ListOptions = "side" | "range" | "reveal" | "palette" | "emphasis" | "toggle";

interface TokenColumnOptions extends Pick<TokenListOptions, ListOptions> {
  readonly tokens: Tokens;
  readonly state: State;
  /** The height of a row and the width of the column, in CSS pixels. */
  readonly rowHeight: number;
  readonly width: number;
  /** The positions shown, from top to bottom. */
  readonly positions: readonly number[];
}

/** The height of a row in CSS pixels: lower for long texts. */
export const rowHeight = (tokens: number, lowest = 16) =>
  Math.max(lowest, Math.min(28, Math.floor(720 / tokens)));

export const tokenFontSize = (rowHeight: number) => Math.min(14, rowHeight * 0.75);

export function tokenColumn(scope: Scope, options: TokenColumnOptions): HTMLElement {
  const { side, tokens, state, positions, rowHeight } = options;
  const fontSize = tokenFontSize(rowHeight);
  const shown = new Set(positions);
  return tokenList(scope, {
    ...options,
    labels: tokens.labels,
    names: tokenNames(tokens),
    special: tokens.special,
    generated: tokens.generated ?? null,
    shown: positions,
    position: (index) => index,
    horizontal: false,
    track: uniformTrack(positions.length, rowHeight),
    across: options.width,
    fontSize,
    focused: computed(() => {
      const at = state.focus.value[side];
      return at !== null && shown.has(at) ? [at] : NONE;
    }),
    locked: computed(() => lockedOn(state, side)),
    found: computed(() => matches(tokens.labels, state.find.value)),
    pointAt(index) {
      state.hover.value = index === null ? null : { query: null, key: null, [side]: index };
    },
    cursor: cursorOf(state, side),
  });
}

/** The legend of generated tokens; "" if there are none. */
export const generatedLegend = (...sides: readonly Tokens[]): string =>
  sides.some(({ generated }) => typeof generated === "number") ? "underlined: generated" : "";

/** The position of the keyboard in one column. */
export function cursorOf(state: State, side: Side): { at: number } {
  return {
    get at() {
      return state.cursor[side];
    },
    set at(position) {
      state.cursor[side] = position;
    },
  };
}

interface TokenListOptions {
  readonly side: Side;
  readonly labels: readonly string[];
  /** A unique name per label. */
  readonly names: readonly string[];
  readonly special: readonly number[];
  /** The first index that the model generated; null for none. */
  readonly generated: number | null;
  /** The indices of the labels shown, in order. */
  readonly shown: readonly number[];
  /** The position in the state of the token at an index. */
  position(index: number): number;
  readonly horizontal: boolean;
  readonly track: Track;
  /** The width of a column, or the height of a line. */
  readonly across: number;
  readonly fontSize: number;
  /** The range of places that are rendered; all if it is missing. */
  readonly range?: ReadonlySignal<readonly [number, number]> | undefined;
  /** Scrolls to a place, and renders it. */
  readonly reveal?: ((at: number) => void) | undefined;
  /** The palette, whose background is the one behind the list. */
  readonly palette: ReadonlySignal<Palette>;
  /** The emphasis of each token, 0 to 1; null for no emphasis. */
  readonly emphasis: ReadonlySignal<ArrayLike<number> | null>;
  readonly focused: ReadonlySignal<readonly number[]>;
  readonly locked: ReadonlySignal<readonly number[]>;
  /** The colours of locked indices, if their lines have any of their own. */
  readonly colors?: ReadonlySignal<ReadonlyMap<number, string>>;
  readonly found: ReadonlySignal<readonly number[]>;
  pointAt(index: number | null): void;
  toggle(index: number, event: MouseEvent | KeyboardEvent): void;
  /** The last position of the keyboard, where it continues. */
  readonly cursor: { at: number };
}

/** The least share of the text colour in faded text, for a contrast of 4.5. */
const FADED = 0.62;

export const NAMES: Readonly<Record<Side, string>> = { query: "Queries", key: "Keys" };

/** The step of Page Up and Page Down in tokens, less than a page. */
const PAGE = 20;

/** The padding left and right of a label, in CSS pixels. */
export const PADDING = 8;

/** In a label that may be higher than its row: marks above and below letters, and line breaks. */
const TALL = /[\p{M}\n]/u;

/** Counts lists: two may be of the same side. */
let lists = 0;

/** A listbox of tokens in a column or a line, for pointer and keyboard. */
export function tokenList(scope: Scope, options: TokenListOptions): HTMLElement {
  const { side, labels, names, shown, horizontal, track, across, range } = options;
  const special = new Set(options.special);
  const generatedFrom = options.generated ?? labels.length;
  const places = placesOf(shown, labels.length);
  const number = lists++;
  const idOf = (index: number) => `${side}-${number}-${options.position(index)}`;
  const list = el("div", {
    class: `tokens ${side} ${horizontal ? "line" : "column"}`,
    role: "listbox",
    tabindex: 0,
    "aria-label": NAMES[side],
    "aria-orientation": horizontal ? "horizontal" : "vertical",
    "aria-multiselectable": "true",
  });
  list.style.fontSize = `${options.fontSize}px`;
  // Measured in bold, as locked tokens are shown.
  const measure = textMeasure(fontOf(options.fontSize, 600));
  const size = (at: number) => track.size(at);
  const rowOf = (at: number): HTMLElement => {
    const index = shown[at];
    const available = (horizontal ? size(at) : across) - 2 * PADDING;
    const text = el("span", { dir: "auto" }, shorten(labels[index], available, measure));
    const generated = index >= generatedFrom;
    const origin = generated ? ", generated" : "";
    // The whole label, if it is shortened.
    const named = generated || text.textContent !== labels[index];
    const row = el(
      "div",
      {
        role: "option",
        id: idOf(index),
        title: names[index] + origin,
        "aria-label": named && labels[index] + origin,
        // Screen readers cannot count options that are not rendered.
        "aria-setsize": range && shown.length,
        "aria-posinset": range && at + 1,
        class: [special.has(index) && "special", generated && "generated"]
          .filter(Boolean)
          .join(" "),
      },
      text,
    );
    row.style[horizontal ? "width" : "height"] = `${size(at)}px`;
    row.dataset.index = `${index}`;
    // Browsers go through every clip on each hover, and other labels fit.
    if (TALL.test(labels[index])) row.style.overflow = "hidden";
    return row;
  };

  /** The rendered options, by place. */
  const rendered = signal<ReadonlyMap<number, HTMLElement>>(new Map());
  function render([first, end]: readonly [number, number]): void {
    const before = rendered.peek();
    for (const [at, row] of before) if (at < first || at >= end) row.remove();
    const rows = new Map<number, HTMLElement>();
    // Keep rendered rows: a pressed row must still exist when the pointer is released.
    let next = list.firstElementChild;
    for (let at = first; at < end; at++) {
      const row = before.get(at) ?? rowOf(at);
      if (row !== next) list.insertBefore(row, next);
      next = row.nextElementSibling;
      rows.set(at, row);
    }
    if (range) {
      // Padded to the length of all options.
      list.style[horizontal ? "paddingLeft" : "paddingTop"] = `${lengthTo(first)}px`;
      list.style[horizontal ? "width" : "height"] = `${track.length}px`;
    }
    rendered.value = rows;
  }
  const lengthTo = (at: number) => (at < shown.length ? track.start(at) : track.length);

  const indexOf = (event: Event) => {
    const row = (event.target as Element).closest<HTMLElement>("[role=option]");
    return row ? Number(row.dataset.index) : null;
  };
  /** True while the reader uses the keyboard in the list. */
  const keyed = signal(false);
  let pointed: number | null = null;
  const look = (index: number | null) => {
    pointed = index;
    options.pointAt(index);
  };
  // Not "pointerover", which fires when the list scrolls under a pointer at rest, too.
  list.addEventListener("pointermove", (event) => {
    const index = indexOf(event);
    if (index !== null && (index !== pointed || !options.focused.peek().includes(index))) {
      keyed.value = false;
      look(index);
    }
  });
  list.addEventListener("pointerleave", () => look(null));
  list.addEventListener("click", (event) => {
    const index = indexOf(event);
    if (index !== null) options.toggle(index, event);
  });
  list.addEventListener("focus", () => {
    keyed.value = true;
  });
  list.addEventListener("keydown", (event) => {
    keyed.value = true;
    const { cursor } = options;
    const at = places[pointed ?? options.focused.peek().at(-1) ?? cursor.at] ?? -1;
    const last = shown.length - 1;
    const [back, on] = horizontal ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const to = {
      [on]: Math.min(at + 1, last),
      [back]: at < 0 ? last : Math.max(at - 1, 0),
      PageDown: Math.min(at + PAGE, last),
      PageUp: Math.max(at - PAGE, 0),
      Home: 0,
      End: last,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      cursor.at = shown[to];
      look(shown[to]);
      options.reveal?.(to);
      rendered.peek().get(to)?.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else if ((event.key === "Enter" || event.key === " ") && at >= 0) {
      event.preventDefault();
      options.toggle(shown[at], event);
    }
  });
  list.addEventListener("blur", () => {
    keyed.value = false;
    look(null);
  });

  scope.effect(() => render(range?.value ?? [0, shown.length]));
  scope.effect(() => {
    const focused = new Set(options.focused.value);
    const locked = new Set(options.locked.value);
    for (const [at, row] of rendered.value) {
      row.classList.toggle("focused", focused.has(shown[at]));
      const selected = `${locked.has(shown[at])}`;
      if (row.getAttribute("aria-selected") !== selected)
        row.setAttribute("aria-selected", selected);
      const color = options.colors?.value.get(shown[at]) ?? "";
      if (row.style.getPropertyValue("--lock") !== color) row.style.setProperty("--lock", color);
    }
    const active = options.focused.value.at(-1);
    // Screen readers follow the keyboard; each move of the pointer would change the element.
    const seen = keyed.value && active !== undefined && rendered.value.has(places[active]);
    setAttributes(list, { "aria-activedescendant": seen && idOf(active) });
  });
  scope.effect(() => {
    const found = new Set(options.found.value);
    for (const [at, row] of rendered.value) row.classList.toggle("found", found.has(shown[at]));
  });
  // A veil of the background's colour instead of a style per token, since each change of a style
  // costs time.
  const veil = el("canvas", { class: "veil", "aria-hidden": "true" });
  list.append(veil);
  scope.effect(() => {
    const emphasis = options.emphasis.value;
    const { background, highlight } = options.palette.value;
    const [locked, focused] = [new Set(options.locked.value), new Set(options.focused.value)];
    const [first = 0, ...others] = rendered.value.keys();
    const end = (others.at(-1) ?? first) + 1;
    const [start, length] = [lengthTo(first), lengthTo(end) - lengthTo(first)];
    const sized: [number, number] = horizontal ? [length, across] : [across, length];
    list.classList.toggle("faded", emphasis !== null);
    veil.style[horizontal ? "left" : "top"] = `${start}px`;
    const opacities = new Map<number, number>();
    for (const [at, row] of rendered.value) {
      const index = shown[at];
      const part = emphasis && !locked.has(index) ? Math.min(1, emphasis[index]) : 1;
      const opacity = FADED + (1 - FADED) * part;
      opacities.set(at, opacity);
      fadeInFigures(row.firstElementChild as HTMLElement, opacity);
    }
    const paint = (painter: Painter) => {
      for (const [at, opacity] of opacities) {
        if (opacity === 1) continue;
        painter.fillStyle = focused.has(shown[at]) ? highlight : background;
        painter.globalAlpha = 1 - opacity;
        const [from, to] = [lengthTo(at) - start, size(at)];
        if (horizontal) painter.fillRect(from, 0, to, across);
        else painter.fillRect(0, from, across, to);
      }
    };
    paintCanvas(veil, ...sized, paint, () => {});
  });
  return list;
}
