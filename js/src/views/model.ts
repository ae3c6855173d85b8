/** The model view: every head of every layer at a glance. */

import { computed, effect, signal, untracked } from "@preact/signals-core";
import type { LayerInfo, StackInfo } from "../data/manifest.ts";
import { disposeAll } from "../parts/dispose.ts";
import { el, replaceContent, revealWithin, sizeCanvas } from "../parts/dom.ts";
import { number, type Phrase, strong, weight } from "../parts/text.ts";
import { goTo } from "../state.ts";
import { countPatterns, PATTERN_NAMES, patternColor, patternOf } from "./patterns.ts";
import { showPreview } from "./preview.ts";
import { paintThumbnail } from "./thumbnail.ts";
import type { Context, View } from "./view.ts";

interface Cell {
  readonly layer: number;
  readonly head: number;
}

const LEFT = 34;
const TOP = 24;

export function modelView(context: Context): View {
  const { state, store, palette } = context;
  const { stack } = state.shown;
  const hovered = signal<Cell | null>(null);
  /** Enlarged by a click or the keyboard, until Escape or until the focus goes. */
  const opened = signal(false);
  const current = computed<Cell>(() => ({
    layer: state.shown.layer.value,
    head: state.shown.head.value,
  }));
  const looked = computed(() => hovered.value ?? current.value);
  const enlarged = computed(() => hovered.value ?? (opened.value ? current.value : null));
  const element = el("div", { class: "model-view" });

  const dispose = effect(() => {
    if (context.width.value <= 0) return;
    const inside = grid(context.width.value, stack.value);
    untracked(() => {
      hovered.value = null;
      replaceContent(element, inside.element);
    });
    return inside.dispose;
  });

  function grid(width: number, { name, layers }: StackInfo) {
    const columns = Math.max(...layers.map((layer) => layer.heads));
    const pitch = Math.max(28, Math.min(112, (width - LEFT) / columns));
    const gap = pitch > 60 ? 12 : 6;
    const size = pitch - gap;
    const [fullWidth, fullHeight] = [LEFT + columns * pitch, TOP + layers.length * (pitch + 2)];
    const at = ({ layer, head }: Cell) =>
      [LEFT + head * pitch + gap / 2, TOP + layer * (pitch + 2)] as const;

    const canvas = el("canvas", { "aria-hidden": "true" });
    const cells = el("div", { role: "grid", "aria-label": "Heads of every layer", tabindex: 0 });
    const panel = el("div", { class: "preview", hidden: true, "aria-hidden": "true" });
    const stage = el("div", { class: "grid-stage" }, canvas, cells, panel);
    stage.style.width = `${fullWidth}px`;
    stage.style.height = `${fullHeight}px`;
    const byCell = layers.map((info, layer) => {
      const row = el("div", { role: "row" });
      const buttons = Array.from({ length: info.heads }, (_, head) => {
        const cell = el("div", {
          role: "gridcell",
          id: `cell-${layer}-${head}`,
          "aria-label": `Layer ${layer}, head ${head}`,
        });
        const [left, top] = at({ layer, head });
        Object.assign(cell.style, {
          left: `${left}px`,
          top: `${top}px`,
          width: `${size}px`,
          height: `${size}px`,
        });
        cell.dataset.layer = `${layer}`;
        cell.dataset.head = `${head}`;
        row.append(cell);
        return cell;
      });
      cells.append(row);
      return buttons;
    });

    const cellOf = (event: Event): Cell | null => {
      const cell = (event.target as Element).closest<HTMLElement>("[role=gridcell]");
      return cell && { layer: Number(cell.dataset.layer), head: Number(cell.dataset.head) };
    };
    // Not "pointerover", which also comes when the grid scrolls by under a pointer that rests.
    cells.addEventListener("pointermove", (event) => {
      const [cell, before] = [cellOf(event), hovered.peek()];
      if (cell?.layer !== before?.layer || cell?.head !== before?.head) hovered.value = cell;
    });
    cells.addEventListener("pointerleave", () => {
      hovered.value = null;
    });
    cells.addEventListener("click", (event) => {
      const cell = cellOf(event);
      if (cell) goTo(state, cell);
      opened.value = cell !== null;
    });
    cells.addEventListener("dblclick", (event) => {
      if (cellOf(event)) state.view.value = "head";
    });
    cells.addEventListener("blur", () => {
      opened.value = false;
    });
    cells.addEventListener("keydown", (event) => {
      const { layer, head } = current.peek();
      const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[
        event.key
      ];
      if (step) {
        event.preventDefault();
        hovered.value = null;
        goTo(state, { layer: layer + step[0], head: head + step[1] });
        opened.value = true;
      } else if (event.key === "Enter") {
        event.preventDefault();
        state.view.value = "head";
      } else if (event.key === "Escape") {
        opened.value = false;
      }
    });

    const disposers = [
      effect(() => {
        const colors = palette.value;
        const target = sizeCanvas(canvas, fullWidth, fullHeight);
        target.font = "12px system-ui, sans-serif";
        target.textAlign = "center";
        target.textBaseline = "middle";
        layers.forEach((info, layer) => {
          for (let head = 0; head < info.heads; head++) {
            const [x, y] = at({ layer, head });
            const color = patternColor(patternOf(info, head), colors);
            paintThumbnail(target, store.thumbnail(name, layer, head), x, y, size, color, colors);
            target.fillStyle = color;
            target.fillRect(x + 4, y + size + 3, size - 8, 2.5);
          }
        });
        target.fillStyle = colors.muted;
        for (let head = 0; head < columns; head++)
          target.fillText(`${head}`, at({ layer: 0, head })[0] + size / 2, 10);
        layers.forEach((_, layer) => {
          target.fillText(`${layer}`, LEFT / 2 - 4, at({ layer, head: 0 })[1] + size / 2);
        });
      }),
      effect(() => {
        const { layer, head } = current.value;
        byCell.forEach((row, l) => {
          row.forEach((cell, h) => {
            cell.setAttribute("aria-selected", `${l === layer && h === head}`);
          });
        });
        cells.setAttribute("aria-activedescendant", `cell-${layer}-${head}`);
        // After this run, when a new grid is in its place.
        queueMicrotask(() => revealWithin(element.closest(".body"), byCell[layer][head]));
      }),
      effect(() => {
        const cell = enlarged.value;
        panel.hidden = cell === null;
        if (!cell) return;
        showPreview(panel, {
          title: `Layer ${cell.layer} · Head ${cell.head}`,
          thumbnail: store.thumbnail(name, cell.layer, cell.head),
          color: patternColor(patternOf(layers[cell.layer], cell.head), palette.value),
          palette: palette.value,
          cell: [...at(cell), size],
          room: [fullWidth, fullHeight],
        });
      }),
    ];
    return { element: stage, dispose: disposeAll(disposers) };
  }

  return {
    element,
    status: computed(() => statusOf(looked.value, stack.value.layers[looked.value.layer])),
    legend: computed(() => countPatterns(stack.value.layers, palette.value)),
    dispose,
  };
}

function statusOf({ layer, head }: Cell, info: LayerInfo): Phrase {
  const pattern = patternOf(info, head);
  const value = (name: keyof LayerInfo["measures"]) => info.measures[name][head];
  return [
    strong(`Layer ${layer} · Head ${head}  `),
    `${pattern === "mixed" ? "" : "mostly "}${PATTERN_NAMES[pattern]} · mean entropy ${number(value("entropy"))} nats`,
    ` · mean distance ${number(value("distance"), 1)} tokens · to previous ${weight(value("previous"))}`,
    `, next ${weight(value("next"))}, special ${weight(value("special"))}`,
  ];
}
