/** The view of grids: numbers of layers by positions or heads, as an open matrix. */

import { batch, computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { ownName, type StackInfo } from "../../data/manifest.ts";
import { strongest } from "../../data/neurons.ts";
import { paintCanvas } from "../../painting/canvas.ts";
import { bound, choice, toggle } from "../../parts/choice.ts";
import { el, setAttributes } from "../../parts/dom.ts";
import { brief, colored, hint, type Phrase } from "../../parts/text.ts";
import { goTo, goToStack, openHead } from "../../state/navigation.ts";
import { within } from "../../state/state.ts";
import { reveal } from "../model/grid.ts";
import { bindKeys, bindPointer } from "../shared/all-heads/input.ts";
import { notice } from "../shared/layer-view.ts";
import { type Context, figureOf, type View } from "../shared/view.ts";
import { legendLine } from "../shared/words.ts";
import { type Cell, type GridCells, gridCells } from "./cells.ts";
import { cellColor, digitsIn, gridLayout, paintCells, paintColumns, paintRows } from "./paint.ts";

/** The squares of the legend, as shares of the largest number. */
const STEPS = [-1, -0.67, -0.33, 0.33, 0.67, 1];
/** The height of the lines above the grid, in CSS pixels. */
const ABOVE = 56;

export function gridView(context: Context): View {
  const { scope, state, store, palette } = context;
  const { grids } = state;
  if (!grids.length) return { ...notice("No grid is in this page."), tools: [] };
  const at = computed(() => within(state.shown_grid.value, grids.length));
  const cells = computed(() => gridCells(grids[at.value]));
  const nulls = signal(false);
  const random = computed(() => cells.value.grid.null);
  const values = computed(() => (nulls.value && random.value) || cells.value.grid);
  const hovered = signal<Cell | null>(null);
  const current = computed(() => currentIn(cells.value, context));
  const focused = computed(() => hovered.value ?? current.value);
  const layout = computed(() =>
    gridLayout(cells.value, context.width.value, context.height.value - ABOVE),
  );

  const name = el("strong", {});
  const about = el("span", {});
  const [canvas, ofRows, ofColumns] = ["base", "of-rows", "of-columns"].map((name) =>
    el("canvas", { class: name, "aria-hidden": "true" }),
  );
  const cell = el("div", { role: "gridcell", id: "grid-cell" });
  const row = el("div", { role: "row" }, cell);
  const attributes = {
    class: "cells",
    role: "grid",
    tabindex: 0,
    "aria-activedescendant": cell.id,
  };
  const stage = el("div", attributes, el("i"), ofColumns, ofRows, canvas, row);
  const title = el("div", { class: "title" }, name, " ", about);
  const element = el("div", { class: "grid-view" }, title, stage);

  scope.effect(() => {
    const { label, description, axes, rows, columns } = cells.value.grid;
    const said = `rows: ${axes[0]}s${axes[1] && ` · columns: ${axes[1]}s`}`;
    name.textContent = nulls.value && random.value ? `${label}: ${random.value.label}` : label;
    about.textContent = title.title = `${said}. ${description}`;
    const counts = { "aria-rowcount": rows.length, "aria-colcount": columns.length };
    setAttributes(stage, { "aria-label": label, "aria-description": description, ...counts });
  });
  scope.effect(() => {
    const marked = nulls.value ? () => false : cells.value.isOutside;
    const [all, shown, colors] = [cells.value, values.value.values, palette.value];
    const { value } = layout;
    paintCanvas(canvas, value.width, value.height, (painter) =>
      paintCells(painter, all, shown, value, marked, colors),
    );
  });
  scope.effect(() => {
    const [all, of, colors] = [cells.value, layout.value, palette.value];
    paintCanvas(ofRows, of.left, of.height, (painter) => paintRows(painter, all, of, colors));
    paintCanvas(ofColumns, of.width, of.top, (painter) => paintColumns(painter, all, of, colors));
  });
  scope.effect(() => {
    cells.value;
    hovered.value = null;
  });
  scope.effect(() => {
    layout.value;
    queueMicrotask(() => reveal(cell, layout.peek(), null, true));
  });
  const words = computed(() => cells.value.wordsOf(focused.value));
  scope.effect(() => {
    const { left, top, across, down } = layout.value;
    const { row: line, column } = focused.value;
    cell.style.cssText =
      `left:${left + column * across - 1}px;top:${top + line * down - 1}px;` +
      `width:${across + 1}px;height:${down + 1}px`;
    row.ariaRowIndex = `${line + 1}`;
    const chosen = same(focused.value, current.value);
    setAttributes(cell, {
      "aria-label": brief(words.value),
      "aria-colindex": column + 1,
      "aria-selected": `${chosen}`,
    });
  });

  /** The stack that the grid is of. */
  const stackOf = ({ grid }: GridCells) =>
    store.manifest.stacks.find((each) => each.name === grid.stack) as StackInfo;
  /** The place of a cell; its layer only if that was recorded. */
  const goalOf = (to: Cell) => {
    const { layer, ...place } = cells.peek().placeOf(to);
    const { layers } = stackOf(cells.peek());
    return { ...place, layer: layers.some(({ number }) => number === layer) ? layer : null };
  };
  function choose(to: Cell): void {
    const { layer, head, position } = goalOf(to);
    batch(() => {
      const stack = ownName(store.manifest, cells.peek().grid.stack);
      if (stack !== state.stack.peek()) goToStack(state, stack);
      if (layer !== null) goTo(state, head === null ? { layer } : { layer, head });
      if (position === null) return;
      state.query.value = position;
      state.key.value = null;
      state.also.value = [];
    });
  }
  function open(to: Cell): void {
    const { layer, head } = goalOf(to);
    if (layer === null) return;
    batch(() => {
      choose(to);
      if (head !== null) openHead(state, layer, head);
      else if (state.views.includes("head")) state.view.value = "head";
    });
  }
  const act = (to: Cell) => (same(to, current.peek()) ? open(to) : choose(to));
  const look = (to: Cell | null) => {
    if (!same(to, hovered.peek())) hovered.value = to;
  };
  const cellAt = ({ clientX, clientY }: MouseEvent): Cell | null => {
    const { left, top } = canvas.getBoundingClientRect();
    const { across, down } = layout.peek();
    const column = Math.floor((clientX - left) / across);
    const row = Math.floor((clientY - top) / down);
    const isInside = cells.peek().grid.values[row]?.[column] !== undefined;
    return isInside ? { row, column } : null;
  };
  bindPointer<Cell>(stage, stage, cellAt, {
    hover: look,
    click: (to) => to && act(to),
    doubleClick: open,
  });
  bindKeys<Cell>(stage, stage, (key) => after(key, focused.peek(), cells.peek()), {
    move(to) {
      look(to);
      reveal(cell, layout.peek());
    },
    enter: () => act(focused.peek()),
    escape() {
      const away = !same(focused.peek(), current.peek());
      look(null);
      return away;
    },
  });

  // Its beginning is what the menu has room for.
  const alike = grids.every(({ name }) => name === grids[0].name);
  const options = grids.map(({ name, label, axes }, n) => ({
    value: `${n}`,
    label: `${alike ? label.replace(`${name} at `, "") : label}, ${axes.filter(Boolean).join(" × ")}`,
  }));
  const chosen = bound(
    () => `${at.value}`,
    (to) => {
      state.shown_grid.value = Number(to);
    },
  );
  const chooser = choice(scope, "Grid", options, chosen);
  chooser.hidden = grids.length < 2;
  const ofNull = toggle(scope, "", "Show the numbers of the null in their place (n)", nulls);
  scope.effect(() => {
    ofNull.hidden = !random.value;
    ofNull.textContent = `Null: ${random.value?.label ?? ""}`;
  });
  const legend: ReadonlySignal<Phrase> = computed(() => {
    const { peak, written, between, grid } = cells.value;
    const squares = STEPS.map((share) => colored(cellColor(share, palette.value), "■"));
    const { numbered } = layout.value;
    const outside = `${numbered ? "bold" : "+ −"}: outside of 95% of ${grid.null?.label}`;
    const colors = [`${grid.name} ${written(-peak)} `, ...squares, ` ${written(peak)}`];
    const least = 0.5 * 10 ** -digitsIn(cells.value);
    return legendLine(
      colors,
      [numbered ? `empty: below ${least}` : "", between && !nulls.value ? outside : ""],
      "   ",
    );
  });
  return {
    element,
    status: computed(() => {
      const { layer } = cells.value.placeOf(focused.value);
      const again = same(focused.value, current.value) ? "click: head view" : "click: choose";
      return [...words.value, ...(layer === null ? [] : [hint(`   ${again}`)])];
    }),
    legend,
    tables: computed(() => [cells.value.table]),
    tools: [chooser, ofNull],
    finds: signal(null),
    idle: computed(() => {
      const { axes, rows } = cells.value.grid;
      const none = axes[1] !== "head" && rows[0][2] === null;
      return { layer: "", head: none ? "This grid is of no single head" : "" };
    }),
    keys: {
      n: () => {
        nulls.value = !nulls.peek();
      },
    },
    figure: () => {
      const shown = cells.peek();
      return figureOf(store.manifest, "grid", stackOf(shown), { of: shown.grid.label });
    },
  };
}

const same = (a: Cell | null, b: Cell | null) => a?.row === b?.row && a?.column === b?.column;

/** The cell of the layer, head and query that are shown, or the nearest. */
function currentIn({ grid, placeOf }: GridCells, { state }: Context): Cell {
  const { layer, head, query } = state;
  // Rows are in the order of layers and heads.
  const before = grid.rows.filter(
    ([, own, of]) =>
      own !== null && (own < layer.value || (own === layer.value && (of ?? 0) <= head.value)),
  );
  const line = Math.max(0, before.length - 1);
  const { position } = placeOf({ row: line, column: 0 });
  const numbers = grid.values[line].map((value) => value ?? 0);
  const wanted =
    position !== null ? (query.value ?? strongest([...numbers.keys()], numbers)) : head.value;
  return { row: line, column: within(wanted, grid.columns.length) };
}

/** The cell to which a key moves; null for other keys. */
function after(key: string, { row, column }: Cell, { grid }: GridCells): Cell | null {
  const step = WAYS[key];
  if (!step) return null;
  const [down, across] = step;
  return {
    row: within(row + down, grid.rows.length),
    column: within(column + across, grid.columns.length),
  };
}

const WAYS: Readonly<Record<string, readonly [down: number, across: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, Number.NEGATIVE_INFINITY],
  End: [0, Number.POSITIVE_INFINITY],
  PageUp: [Number.NEGATIVE_INFINITY, 0],
  PageDown: [Number.POSITIVE_INFINITY, 0],
};
