/** The grid of heads, with the preview of the head that is pointed at, and the opened head. */

import { batch, computed, signal, untracked } from "@preact/signals-core";
import { type Head, headsAlone } from "../../data/manifest.ts";
import type { Box } from "../../painting/canvas.ts";
import type { Paint, Painter } from "../../painting/painter.ts";
import { el, setAttributes } from "../../parts/dom.ts";
import { within } from "../../state/state.ts";
import { placeOf, type Row, sameHead } from "../shared/all-heads/heads.ts";
import { bindKeys, bindPointer } from "../shared/all-heads/input.ts";
import { paintThumbnail, thumbnailsOf } from "../shared/all-heads/thumbnail.ts";
import { described, headTitle, metricTable, ordered } from "../shared/all-heads/words.ts";
import type { Context } from "../shared/view.ts";
import { modelGrid, reveal } from "./grid.ts";
import type { ModelHeads } from "./heads.ts";
import { modelLayout } from "./layout.ts";
import { modelPanel } from "./panel.ts";
import { showPreview } from "./preview.ts";

/** The space between a row and its panel, and below the panel, in CSS pixels. */
const PANEL_MARGIN = 16;

/** Build the grid. A signal that is read here replaces it by another when it changes. */
export function gridStage(context: Context, heads: ModelHeads, width: number): HTMLElement {
  const { scope, state, store, palette } = context;
  const { patterns } = store.manifest;
  const { sort, metric, pictures, images, panel, hovered, current, coloring, choose, enter } =
    heads;
  const rows = heads.rows.value;
  const kind = state.thumbnails.value;
  const { aspect: ofMatrix, thumbnailOf } = thumbnailsOf(context, kind, pictures.thumbnails());
  const aspect = images.aspect.value ?? ofMatrix;
  const sorted = sort.value !== null;
  const layoutAt = (height: number) => modelLayout(width, height, aspect, rows, sorted);
  // Another height replaces the grid only where it changes the pictures.
  computed(() => layoutAt(context.height.value).across).value;
  const layout = layoutAt(context.height.peek());
  const grid = modelGrid(rows, store.manifest, layout, sort.value, metric.value);
  const preview = el("div", { class: "preview", hidden: true, "aria-hidden": "true" });
  const stage = el("div", { class: "grid-stage" }, grid.element, preview);
  stage.style.width = `${layout.width}px`;
  const margin = Math.max(0, Math.floor((width - layout.width) / 2));
  stage.style.marginLeft = `${margin}px`;
  /** The cell of a head; null if it is not shown. */
  const cellOf = (head: Head | null) => {
    const at = head && placeOf(rows, head);
    return (at && grid.cell(at.row, at.column)) ?? null;
  };

  // Without a text there is nothing to open: the preview shows the mean picture and the numbers.
  const alone = headsAlone(store.manifest);
  const opened = computed(
    () => state.opened.value && !alone && placeOf(rows, current.value) !== null,
  );
  let openedBefore = false;
  const toggle = (head: Head) => {
    const isOpen = state.opened.peek() && sameHead(head, current.peek());
    batch(() => {
      choose(head);
      state.opened.value = !isOpen && !alone;
    });
  };
  const close = () => {
    state.opened.value = false;
    grid.element.focus();
  };
  const enterCurrent = () => enter(current.peek());
  /** True while the keyboard moves through the heads, which enlarges the current one. */
  const byKeyboard = signal(false);
  bindPointer(stage, grid.element, grid.headAt, {
    hover: heads.lookAt,
    switchOff: heads.switchOff,
    click(head) {
      if (!head) return;
      byKeyboard.value = false;
      openedBefore = state.opened.peek();
      toggle(head);
    },
    doubleClick(head) {
      state.opened.value = openedBefore;
      enter(head);
    },
  });
  // The head scrolls away from under the pointer.
  grid.element.addEventListener("wheel", () => heads.lookAt(null), { passive: true });
  grid.element.addEventListener("blur", () => {
    byKeyboard.value = false;
  });
  bindKeys(stage, grid.element, (key) => headAfter(key, current.peek(), rows), {
    move(to) {
      batch(() => {
        hovered.value = null;
        byKeyboard.value = true;
        choose(to);
      });
    },
    enter: enterCurrent,
    toggle: () => toggle(current.peek()),
    escape() {
      byKeyboard.value = false;
      if (!panel.peek()) return false;
      close();
      return true;
    },
  });

  let revealed = false;
  /** Make space for the panel below the row of the current head, and scroll to both. */
  const arrange = () => {
    const at = placeOf(rows, current.peek());
    const shown = panel.peek();
    if (shown && at) grid.setGap(at.row, shown.element.offsetHeight + PANEL_MARGIN);
    else grid.setGap(null, 0);
    if (!at) return;
    const { left, top, across, gap, rowPitch } = layout;
    const notch = margin + left + (at.column + 0.5) * (across + gap);
    shown?.place(top + (at.row + 1) * rowPitch + PANEL_MARGIN / 2, notch);
    const cell = grid.cell(at.row, at.column);
    // Another grid may have replaced this one since the last frame.
    if (!cell?.isConnected) return;
    reveal(cell, { left, top }, shown?.element, !revealed);
    revealed = true;
  };

  const painterOf = computed(() => {
    const [onImage, { colorOf }, colors] = [images.painter.value, coloring.value, palette.value];
    return (painter: Painter, ratio: number, head: Head, box: Box) =>
      onImage
        ? onImage(painter, head, box)
        : paintThumbnail(painter, ratio, kind, thumbnailOf(head), box, colorOf(head), colors);
  });
  scope.effect(() => {
    // Rows are painted later, when nothing is watched.
    pictures.loaded();
    const [{ colorOf }, paintHead] = [coloring.value, painterOf.value];
    const { across, down, gap } = layout;
    /** From the left upper corner of a layer. */
    const paintRow =
      ({ layer, heads }: Row): Paint =>
      (painter, ratio) =>
        heads.forEach((head, column) => {
          const [x, color] = [column * (across + gap) + gap / 2, colorOf({ layer, head })];
          paintHead(painter, ratio, { layer, head }, [x, 0, across, down]);
          painter.fillStyle = color;
          painter.fillRect(x + 4, down + 3, across - 8, 2.5);
        });
    return grid.fill(rows.map(paintRow));
  });
  let painted = images.rows.peek();
  scope.effect(() => {
    const arrived = images.rows.value;
    rows.forEach(({ layer: { number } }, row) => {
      const own = arrived.get(number);
      if (own && own !== painted.get(number)) grid.repaint(row);
    });
    painted = arrived;
  });
  scope.effect(() => grid.markOff(state.off.value));
  scope.scopedEffect((own) => {
    if (!opened.value) return;
    const actions = { resized: arrange, close, enter: enterCurrent };
    const shown = untracked(() => modelPanel({ ...context, scope: own }, width, actions));
    shown.element.style.left = `${-margin}px`;
    shown.element.style.setProperty("--top", `${layout.top}px`);
    shown.element.style.width = `${Math.max(width, layout.width)}px`;
    stage.append(shown.element);
    panel.value = shown;
    own.onEnd(() => {
      shown.element.remove();
      panel.value = null;
    });
  });
  scope.effect(() => {
    opened.value;
    const cell = cellOf(current.value);
    setAttributes(grid.element, { "aria-activedescendant": cell?.id });
    cell?.setAttribute("aria-selected", "true");
    // In the first run, wait until the grid is in the page.
    if (grid.element.isConnected) arrange();
    else queueMicrotask(arrange);
    return () => cell?.setAttribute("aria-selected", "false");
  });
  scope.effect(() => {
    const pointed = hovered.value ?? (byKeyboard.value ? current.value : null);
    // The opened head needs no preview.
    const head = opened.value && sameHead(pointed, current.value) ? null : pointed;
    // The head is missing for a moment when the stack changes, until this grid is replaced.
    const cell = cellOf(head);
    // A narrow view has no preview; the status line shows the numbers.
    preview.hidden = !cell || layout.fit === "hidden";
    if (!head || !cell || preview.hidden) return;
    const paintHead = painterOf.value;
    // Its layer may yet arrive.
    images.rows.value;
    const name = el("strong", {}, headTitle(head));
    const metrics = state.shown.metrics.peek();
    const words = described(patterns, head, metrics);
    const title = el("div", { class: "title" }, name, el("br"), words);
    const numbers = metricTable(ordered(metric.peek(), metrics), head);
    const paint = (painter: Painter, ratio: number, box: Box) =>
      paintHead(painter, ratio, head, box);
    showPreview(preview, cell, aspect, paint, title, numbers);
  });
  return stage;
}

/** The head to which a key moves; null for other keys. */
function headAfter(key: string, from: Head, rows: readonly Row[]): Head | null {
  // Start from the first head if this one is not shown.
  const { row, column } = placeOf(rows, from) ?? { row: 0, column: 0 };
  const last = rows[row].heads.length - 1;
  const target: Readonly<Record<string, readonly [row: number, column: number]>> = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [row, 0],
    End: [row, last],
  };
  if (!(key in target)) return null;
  const { layer, heads } = rows[within(target[key][0], rows.length)];
  return { layer, head: heads[within(target[key][1], heads.length)] };
}
