/** Queries and keys with the lines between them. */

import { computed, effect, type ReadonlySignal, untracked } from "@preact/signals-core";
import type { Sheet } from "../data/sheets.ts";
import { lockedOn, toggleAlso, togglePair } from "../locks.ts";
import { disposeAll } from "../parts/dispose.ts";
import { el } from "../parts/dom.ts";
import { matches } from "../parts/find.ts";
import { columnWidth, textMeasure } from "../parts/text.ts";
import { PADDING, tokenList } from "../parts/token-list.ts";
import { cursorOf, tokenFontSize } from "../parts/tokens.ts";
import { type Track, trackOf, uniformTrack } from "../parts/track.ts";
import type { Side, State } from "../state.ts";
import { type Axes, type Look, placeOf, positionOf, sideOf } from "./axes.ts";
import { lines } from "./lines.ts";

export interface PairsOptions {
  readonly state: State;
  readonly axes: Axes;
  /** In CSS pixels. */
  readonly width: number;
  readonly rowHeight: number;
  readonly horizontal: boolean;
  readonly sheets: ReadonlySignal<readonly Sheet[]>;
  readonly colors: ReadonlySignal<readonly string[]>;
  readonly look: ReadonlySignal<Look>;
}

export interface Pairs {
  readonly element: HTMLElement;
  /** Per sheet, the weights of the row or column looked at, summed where several are; or null. */
  readonly strips: ReadonlySignal<readonly Float32Array[] | null>;
  readonly share: ReadonlySignal<number>;
  dispose(): void;
}

/** Tokens side by side: height of a line, room between the lines, and the least width of a token. */
const LINE = 30;
const BETWEEN = 230;
const NARROWEST = 26;
const WIDEST = 160;

/** Tokens below each other: room between the columns. */
const GAP = 6;
const LINES_AT_MOST = 520;
const LINES_AT_LEAST = 110;

export function pairs(options: PairsOptions): Pairs {
  const { state, axes, width, horizontal, sheets, look } = options;
  const fontSize = horizontal ? 14 : tokenFontSize(options.rowHeight);
  const strips = computed(() => {
    const side = sideOf(look.value);
    return side && stripsOf(sheets.value, side, look.value[side]);
  });
  const strongest = computed(() => strips.value && maxima(strips.value));
  const emphasis = (side: Side) =>
    computed(() => {
      if (!strongest.value) return null;
      if (side !== sideOf(look.value)) return strongest.value;
      const own = new Float32Array(axes[side].units.labels.length);
      for (const unit of look.value[side]) own[unit] = 1;
      return own;
    });

  const tracks = {
    query: trackOn("query"),
    key: trackOn("key"),
  };
  const across = { query: acrossOn("query"), key: acrossOn("key") };
  const [queries, disposeQueries] = list("query");
  const [keys, disposeKeys] = list("key");
  const room = width - across.query - across.key - 2 * GAP;
  const drawn = lines({
    axes,
    tracks,
    across: horizontal ? BETWEEN : Math.max(LINES_AT_LEAST, Math.min(LINES_AT_MOST, room)),
    horizontal,
    sheets,
    colors: options.colors,
    look,
    strips,
  });
  const element = el(
    "div",
    { class: `pairs ${horizontal ? "lying" : "standing"}` },
    queries,
    drawn.element,
    keys,
  );

  function trackOn(side: Side): Track {
    const { shown, units } = axes[side];
    if (!horizontal) return uniformTrack(shown.length, options.rowHeight);
    const measure = textMeasure(`600 ${fontSize}px system-ui, sans-serif`);
    return trackOf(
      shown.map((unit) => {
        const text = Math.ceil(measure(units.labels[unit])) + 2 * PADDING;
        return Math.min(WIDEST, Math.max(NARROWEST, text));
      }),
    );
  }

  function acrossOn(side: Side): number {
    if (horizontal) return LINE;
    const labels = axes[side].shown.map((unit) => axes[side].units.labels[unit]);
    return columnWidth(labels, fontSize, [56, Math.max(72, Math.min(180, width * 0.24))]);
  }

  function list(side: Side): [HTMLElement, () => void] {
    const axis = axes[side];
    const [made, dispose] = tokenList({
      side,
      labels: axis.units.labels,
      names: axis.names,
      special: axis.units.special,
      shown: axis.shown,
      position: (unit) => positionOf(axis, unit),
      horizontal,
      track: tracks[side],
      across: across[side],
      fontSize,
      emphasis: emphasis(side),
      looked: computed(() => look.value[side]),
      locked: computed(() =>
        lockedOn(state, side).flatMap((position) => axis.units.of[position] ?? []),
      ),
      found: computed(() => matches(axis.units.labels, state.find.value)),
      look(unit) {
        const [query, key] = side === "query" ? [unit, null] : [null, unit];
        state.hover.value = unit === null ? null : placeOf(axes, query, key);
      },
      toggle(unit, event) {
        if (event.shiftKey) return togglePair(state, side, positionOf(axis, unit));
        // Any of a word's tokens may be what is locked.
        const locked = lockedOn(state, side).filter((at) => axis.units.of[at] === unit);
        const own = locked.length ? locked : [positionOf(axis, unit)];
        for (const position of own) toggleAlso(state, side, position);
      },
      cursor: cursorIn(side),
    });
    if (!horizontal) made.style.width = `${across[side]}px`;
    return [made, dispose];
  }

  function cursorIn(side: Side): { at: number } {
    const [position, axis] = [cursorOf(state, side), axes[side]];
    return {
      get at() {
        return axis.units.of[position.at] ?? -1;
      },
      set at(unit) {
        position.at = positionOf(axis, unit);
      },
    };
  }

  /** Of a long line, show what is locked. */
  const disposeReveal = effect(() => {
    const side = sideOf(look.value);
    if (!horizontal || !side || untracked(() => state.hover.value)) return;
    const at = axes[side].shown.indexOf(look.value[side][0]);
    const [middle, { scrollLeft, clientWidth }] = [tracks[side].middle(at), element];
    if (middle < scrollLeft || middle > scrollLeft + clientWidth) {
      // At first after this run, when it is in its place.
      queueMicrotask(() => {
        element.scrollLeft = middle - element.clientWidth / 2;
      });
    }
  });

  return {
    element,
    strips,
    share: drawn.share,
    dispose: disposeAll([disposeQueries, disposeKeys, disposeReveal, drawn.dispose]),
  };
}

/** Per sheet, the attention from these queries to every key, or from every query to these keys. */
function stripsOf(
  sheets: readonly Sheet[],
  side: Side,
  units: readonly number[],
): readonly Float32Array[] {
  return sheets.map((sheet) => {
    const rows = units.map((unit) => (side === "query" ? sheet.row(unit) : sheet.column(unit)));
    if (rows.length === 1) return rows[0];
    return rows[0].map((_, n) => rows.reduce((sum, row) => sum + row[n], 0));
  });
}

function maxima(rows: readonly Float32Array[]): Float32Array {
  const out = new Float32Array(rows[0].length);
  for (const row of rows)
    row.forEach((value, n) => {
      if (value > out[n]) out[n] = value;
    });
  return out;
}
