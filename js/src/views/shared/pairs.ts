/** The columns of queries and keys with the lines between them. */

import { computed, type ReadonlySignal, untracked } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import { el } from "../../parts/dom.ts";
import { matches } from "../../parts/find.ts";
import { capitalized } from "../../parts/text.ts";
import { tokenList } from "../../parts/token-list.ts";
import { cursorOf } from "../../parts/tokens.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { lockedOn, otherSide, toggleAlso, togglePair } from "../../state/locks.ts";
import { pointAt, type Side } from "../../state/state.ts";
import { type AttentionOptions, placeOf, positionOf, sideOf } from "./axes.ts";
import { type ColumnsOptions, columnsOf } from "./columns.ts";
import { lines } from "./lines.ts";
import { minimap } from "./minimap.ts";
import { namesInSight, windowsOf } from "./windows.ts";

export interface PairsOptions extends AttentionOptions, ColumnsOptions {
  readonly matrices: ReadonlySignal<readonly AttentionMatrix[]>;
  readonly colors: ReadonlySignal<readonly string[]>;
}

export interface Pairs {
  readonly element: HTMLElement;
  /** The weights of the focused row or column (or their sums), by matrix; null if none. */
  readonly strips: ReadonlySignal<readonly Float32Array[] | null>;
  readonly share: ReadonlySignal<number | null>;
  /** The range of visible tokens of a long text, for a figure. */
  named(): string;
}

export function pairs(scope: Scope, options: PairsOptions): Pairs {
  const { state, axes, horizontal, matrices, focused, palette, colors } = options;
  const strips = computed(() => {
    const side = sideOf(focused.value);
    if (!side || (side === "key" && !columnsIn(matrices.value))) return null;
    const rows = stripsOf(matrices.value, side, focused.value[side]);
    // A missing row is NaN.
    return rows.some((row) => Number.isNaN(row[0])) ? null : rows;
  });
  const strongest = computed(() => strips.value && maxima(strips.value));
  const emphasis = (side: Side) =>
    computed(() => {
      if (!strongest.value) return null;
      if (side !== sideOf(focused.value)) return strongest.value;
      const emphasized = new Float32Array(axes[side].units.labels.length);
      for (const unit of focused.value[side]) emphasized[unit] = 1;
      return emphasized;
    });

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
    strips,
  });
  const row = el(
    "div",
    { class: `pairs ${horizontal ? "horizontal" : "vertical"}` },
    ...queries,
    drawn.element,
    ...keys.reverse(),
  );
  const named = () => namesInSight(windows, axes);
  const caption = el("div", { class: "title" });
  const element = windows.query || windows.key ? el("div", {}, caption, row) : row;
  scope.effect(() => {
    caption.textContent = `${capitalized(named())}. The strips are the whole text: drag to move.`;
  });

  /** The column of a side, with a minimap if it scrolls. */
  function side(side: Side): HTMLElement[] {
    const [axis, column, window] = [axes[side], columns[side], windows[side]];
    const focusedHere = computed(() => focused.value[side]);
    const locked = computed(() =>
      lockedOn(state, side).flatMap((position) => axis.units.of[position] ?? []),
    );
    const found = computed(() => matches(axis.units.labels, state.find.value));
    const list = tokenList(scope, {
      side,
      labels: axis.units.labels,
      names: axis.names,
      special: axis.units.special,
      shown: axis.shown,
      position: (unit) => positionOf(axis, unit),
      horizontal,
      track: column.labels,
      across: column.across,
      fontSize: column.fontSize,
      range: window?.range,
      reveal: window?.reveal,
      emphasis: emphasis(side),
      focused: focusedHere,
      locked,
      found,
      pointAt(unit) {
        const [query, key] = side === "query" ? [unit, null] : [null, unit];
        state.hover.value = unit === null ? null : placeOf(axes, query, key);
      },
      toggle(unit, event) {
        if (event.shiftKey) return togglePair(state, side, positionOf(axis, unit));
        // Any token of a word may be locked.
        const locked = lockedOn(state, side).filter((at) => axis.units.of[at] === unit);
        const positions = locked.length ? locked : [positionOf(axis, unit)];
        for (const position of positions) toggleAlso(state, side, position);
      },
      cursor: cursorIn(side),
    });
    if (!horizontal) list.style.width = `${column.across}px`;
    if (!window) return [list];
    window.element.append(list);
    const joint = minimap(scope, {
      axis,
      palette,
      window,
      length,
      horizontal,
      focused: focusedHere,
      locked,
      found,
      colors,
      labels: column.labels,
      ends: column.ends,
      weights: computed(() => (sideOf(focused.value) === otherSide(side) ? strips.value : null)),
      pointAt: (unit) => lookBeside(side, unit),
    });
    return [window.element, joint];
  }

  /** Focus a unit; with a locked query, focus the pair of the query and a key. */
  function lookBeside(side: Side, unit: number | null): void {
    const { query, key } = state;
    if (unit === null) state.hover.value = null;
    // Keep the weights of a locked key.
    else if (side === "query" && query.peek() === null && key.peek() !== null) return;
    else {
      const kept = side === "key" && !state.also.peek().length ? query.peek() : null;
      pointAt(state, {
        query: side === "query" ? positionOf(axes.query, unit) : kept,
        key: side === "key" ? positionOf(axes.key, unit) : null,
      });
    }
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

  return { element, strips, share: drawn.share, named };
}

/** True if columns of every matrix can be had; asks every matrix, so that all begin their work. */
const columnsIn = (matrices: readonly AttentionMatrix[]) =>
  matrices.map((matrix) => matrix.hasColumns()).every(Boolean);

/** The attention from these queries to every key, or from every query to these keys. */
function stripsOf(
  matrices: readonly AttentionMatrix[],
  side: Side,
  units: readonly number[],
): readonly Float32Array[] {
  return matrices.map((matrix) => {
    const rows = units.map((unit) => (side === "query" ? matrix.row(unit) : matrix.column(unit)));
    if (rows.length === 1) return rows[0];
    return rows[0].map((_, n) => rows.reduce((sum, row) => sum + row[n], 0));
  });
}

function maxima(rows: readonly Float32Array[]): Float32Array {
  const out = new Float32Array(rows[0].length);
  for (const row of rows)
    for (let n = 0; n < row.length; n++) {
      if (row[n] > out[n]) out[n] = row[n];
    }
  return out;
}
