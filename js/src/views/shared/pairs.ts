/** The columns of queries and keys with the lines between them. */

import { computed, type ReadonlySignal, untracked } from "@preact/signals-core";
import { el } from "../../parts/dom.ts";
import { matches } from "../../parts/find.ts";
import { capitalized } from "../../parts/text.ts";
import { cursorOf, tokenList } from "../../parts/tokens.ts";
import type { Track } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { lockedOn, otherSide, toggleAlso, togglePair } from "../../state/locks.ts";
import { headNow, toggleCut } from "../../state/off.ts";
import { pointAt, type Side } from "../../state/state.ts";
import { headColors } from "../../styles/head-colors.ts";
import type { Palette } from "../../styles/palette.ts";
import { positionOf, sideOf } from "./axes.ts";
import { type ColumnsOptions, columnsOf } from "./columns.ts";
import { cutArcs } from "./cuts.ts";
import { drawnMatrices } from "./heads/difference.ts";
import { rowsOf, total } from "./heads/matrices.ts";
import type { HeadContent } from "./heads/words.ts";
import { lines } from "./lines.ts";
import { minimap } from "./minimap.ts";
import type { Series } from "./ribbons.ts";
import { namesInSight, windowsOf } from "./windows.ts";

type Shown = Pick<HeadContent, "state" | "data" | "focused" | "cuts" | "matrices" | "arcs">;

export interface PairsOptions extends Shown, ColumnsOptions {
  readonly palette: ReadonlySignal<Palette>;
  /** The element beside the keys, which has the places of their labels; null for none. */
  readonly beside?: ((keys: Track) => HTMLElement) | null;
}

const NO_COLORS: ReadonlyMap<number, string> = new Map();

export function pairs(scope: Scope, options: PairsOptions) {
  const { state, data, axes, horizontal, focused, palette } = options;
  const { matrices, colors } = drawnMatrices(options.matrices, data.info.heads, palette);
  const rows = rowsOf(matrices, focused);
  const strips = computed(() => rows.value?.map(total) ?? null);
  /** The colours of several locked units where a single matrix is drawn; else they are of heads. */
  const unitColors = computed(() => {
    const side = sideOf(focused.value);
    const units = side ? focused.value[side] : [];
    if (matrices.value.length > 1 || units.length < 2) return new Map<number, string>();
    const byUnit = headColors(units.length, palette.value.dark);
    // The unit locked first is the last, and keeps its colour.
    return new Map(units.map((unit, n) => [unit, byUnit[units.length - 1 - n]]));
  });
  const series = computed((): readonly Series[] | null => {
    const side = sideOf(focused.value);
    if (!rows.value || !side) return null;
    const units = focused.value[side];
    if (unitColors.value.size) {
      const [weights] = rows.value;
      return units.map((from, n) => ({
        color: unitColors.value.get(from) ?? "",
        weights: weights[n],
        parts: [{ from, weights: weights[n] }],
      }));
    }
    return rows.value.map((weights, n) => ({
      color: colors.value[n],
      weights: total(weights),
      parts: units.map((from, at) => ({ from, weights: weights[at] })),
    }));
  });
  const strongest = computed(() => strips.value && maxima(strips.value));

  const { columns, length, across } = columnsOf(options);
  const windows = windowsOf(scope, state, axes, columns, length, horizontal);
  const queries = side("query");
  const keys = side("key");
  const drawn = lines(scope, {
    axes,
    tracks: { query: columns.query.ends, key: columns.key.ends },
    across,
    horizontal,
    matrices,
    colors,
    focused,
    series,
    arcs: computed(() => [
      ...options.arcs.value,
      ...cutArcs(options.cuts.value, matrices.value[0]),
    ]),
    palette,
  });
  const row = el("div", { class: `pairs ${horizontal ? "horizontal" : "vertical"}` });
  row.append(...queries, drawn.element, ...keys.reverse());
  if (options.beside) row.append(options.beside(columns.key.labels));
  /** The range of visible tokens of a long text, for a figure. */
  const named = () => namesInSight(windows, axes);
  const caption = el("div", { class: "title" });
  const element = windows.query || windows.key ? el("div", {}, caption, row) : row;
  scope.effect(() => {
    caption.textContent = `${capitalized(named())}. The strips are the whole text: drag to move.`;
  });

  /** The column of a side, with a minimap if it scrolls. */
  function side(side: Side): HTMLElement[] {
    const [axis, column, window] = [axes[side], columns[side], windows[side]];
    const cursor = cursorOf(state, side);
    const focusedHere = computed(() => focused.value[side]);
    const emphasis = computed(() => {
      if (!strongest.value) return null;
      if (side !== sideOf(focused.value)) return strongest.value;
      const emphasized = new Float32Array(axis.units.labels.length);
      for (const unit of focusedHere.value) emphasized[unit] = 1;
      return emphasized;
    });
    const locked = computed(() =>
      lockedOn(state, side).flatMap((position) => axis.units.of[position] ?? []),
    );
    const found = computed(() => matches(axis.units.labels, state.find.value));
    const list = tokenList(scope, {
      ...axis.units,
      ...axis,
      position: (unit) => positionOf(axis, unit),
      horizontal,
      track: column.labels,
      across: column.across,
      fontSize: column.fontSize,
      range: window?.range,
      reveal: window?.reveal,
      palette,
      emphasis,
      focused: focusedHere,
      locked,
      colors: computed(() => (sideOf(focused.value) === side ? unitColors.value : NO_COLORS)),
      found,
      pointAt(unit) {
        state.hover.value =
          unit === null ? null : { query: null, key: null, [side]: positionOf(axis, unit) };
      },
      toggle(unit, event) {
        if (event.altKey) return void toggleCut(state, headNow(state));
        if (event.shiftKey) return togglePair(state, side, positionOf(axis, unit));
        // Any token of a word may be locked.
        const locked = lockedOn(state, side).filter((at) => axis.units.of[at] === unit);
        const positions = locked.length ? locked : [positionOf(axis, unit)];
        for (const position of positions) toggleAlso(state, side, position);
      },
      cursor: {
        get at() {
          return axis.units.of[cursor.at] ?? -1;
        },
        set at(unit) {
          cursor.at = positionOf(axis, unit);
        },
      },
    });
    if (!horizontal) list.style.width = `${column.across}px`;
    if (!window) return [list];
    window.element.append(list);
    const joint = minimap(scope, {
      axis,
      column,
      palette,
      window,
      length,
      horizontal,
      focused: focusedHere,
      locked,
      found,
      colors,
      weights: computed(() => (sideOf(focused.value) === otherSide(side) ? strips.value : null)),
      // Focus a unit; with a locked query, focus the pair of the query and a key.
      pointAt(unit) {
        const { query, key, also, hover } = state;
        if (unit === null) hover.value = null;
        // Keep the weights of a locked key.
        else if (side === "key" || query.peek() !== null || key.peek() === null) {
          const kept = also.peek().length ? null : query.peek();
          pointAt(state, { query: kept, key: null, [side]: positionOf(axis, unit) });
        }
      },
    });
    return [window.element, joint];
  }

  /** Scroll a long line to the locked unit. */
  scope.effect(() => {
    const side = sideOf(focused.value);
    if (!horizontal || !side || windows[side] || untracked(() => state.hover.value)) return;
    const at = axes[side].places[focused.value[side][0]];
    const [middle, { scrollLeft, clientWidth }] = [columns[side].labels.middle(at), row];
    if (middle < scrollLeft || middle > scrollLeft + clientWidth) {
      // In the first run, wait until the element is in the page.
      queueMicrotask(() => {
        row.scrollLeft = middle - row.clientWidth / 2;
      });
    }
  });

  return { element, share: drawn.share, named };
}

function maxima(rows: readonly Float32Array[]): Float32Array {
  const out = new Float32Array(rows[0].length);
  for (const row of rows)
    for (let n = 0; n < row.length; n++) {
      if (row[n] > out[n]) out[n] = row[n];
    }
  return out;
}
