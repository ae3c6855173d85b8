/** The model view: every head of every layer at a glance. */

import { computed, effect, signal, untracked } from "@preact/signals-core";
import type { LayerInfo, StackInfo } from "../data/manifest.ts";
import { disposeAll } from "../parts/dispose.ts";
import { el, replaceContent, revealWithin, sizeCanvas } from "../parts/dom.ts";
import { number, type Phrase, strong, weight } from "../parts/text.ts";
import { keptAsWeights, trust } from "../parts/trust.ts";
import { goTo, stepLayer } from "../state.ts";
import { modelLayout } from "./model-layout.ts";
import { countPatterns, isSelf, PATTERN_NAMES, patternColor, patternOf } from "./patterns.ts";
import { showPreview } from "./preview.ts";
import { type Box, paintThumbnail } from "./thumbnail.ts";
import type { Context, View } from "./view.ts";

interface Cell {
  readonly layer: LayerInfo;
  readonly head: number;
}

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

  function grid(room: number, stack: StackInfo) {
    const { name, layers } = stack;
    const layout = modelLayout(room, stack);
    const { width, height } = layout;
    const beside = Math.max(0, (room - width) / 2);

    const canvas = el("canvas", { "aria-hidden": "true" });
    const cells = el("div", { role: "grid", "aria-label": "Heads of every layer", tabindex: 0 });
    const panel = el("div", { class: "preview", hidden: true, "aria-hidden": "true" });
    const stage = el("div", { class: "grid-stage" }, canvas, cells, panel);
    stage.style.width = `${width}px`;
    stage.style.height = `${height}px`;
    const known = new Map<Element | null, Cell>();
    const byLayer = layers.map((layer, index) => {
      const title = [`Layer ${layer.number}`, ...trust(layer)].join(": ");
      const number = el("div", { role: "rowheader", title }, `${layer.number}`);
      if (layer.fidelity.exact === false) number.append(el("span", { class: "warning" }, " ⚠"));
      const [, top, , down] = layout.box(index, 0);
      setBox(number, [0, top, layout.left, down]);
      const buttons = Array.from({ length: layer.heads }, (_, head) => {
        const cell = el("div", {
          role: "gridcell",
          id: `cell-${layer.number}-${head}`,
          "aria-label": `Layer ${layer.number}, head ${head}`,
        });
        setBox(cell, layout.box(index, head));
        known.set(cell, { layer, head });
        return cell;
      });
      cells.append(el("div", { role: "row" }, number, ...buttons));
      return buttons;
    });

    const cellOf = (event: Event): Cell | null =>
      known.get((event.target as Element).closest("[role=gridcell]")) ?? null;
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
      if (cell) goTo(state, { layer: cell.layer.number, head: cell.head });
      opened.value = cell !== null;
    });
    cells.addEventListener("dblclick", (event) => {
      if (cellOf(event)) state.view.value = "head";
    });
    cells.addEventListener("blur", () => {
      opened.value = false;
    });
    cells.addEventListener("keydown", (event) => {
      const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[
        event.key
      ];
      if (step) {
        event.preventDefault();
        hovered.value = null;
        stepLayer(state, step[0], current.peek().head + step[1]);
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
        const target = sizeCanvas(canvas, width, height);
        target.font = "12px system-ui, sans-serif";
        target.textAlign = "center";
        target.textBaseline = "middle";
        layers.forEach((layer, index) => {
          for (let head = 0; head < layer.heads; head++) {
            const box = layout.box(index, head);
            const [x, y, across, down] = box;
            const color = patternColor(patternOf(layer, head, stack), colors);
            paintThumbnail(target, store.thumbnail(name, layer.number, head), box, color, colors);
            target.fillStyle = color;
            target.fillRect(x + 4, y + down + 3, across - 8, 2.5);
          }
        });
        target.fillStyle = colors.muted;
        for (let head = 0; head < layout.columns; head++) {
          const [x, , across] = layout.box(0, head);
          target.fillText(`${head}`, x + across / 2, 10);
        }
      }),
      effect(() => {
        const { layer, head } = current.value;
        for (const [cell, of] of known) {
          cell?.setAttribute("aria-selected", `${of.layer === layer && of.head === head}`);
        }
        const selected = byLayer[layers.indexOf(layer)]?.[head];
        // The stack has just changed, and this grid is about to be replaced.
        if (!selected) return;
        cells.setAttribute("aria-activedescendant", selected.id);
        // After this run, when a new grid is in its place.
        queueMicrotask(() => revealWithin(element.closest(".body"), selected));
      }),
      effect(() => {
        const cell = enlarged.value;
        // In none of them where the stack has just changed, and this grid is about to be replaced.
        const row = cell ? layers.indexOf(cell.layer) : -1;
        panel.hidden = row < 0;
        if (!cell || row < 0) return;
        showPreview(panel, {
          title: `Layer ${cell.layer.number} · Head ${cell.head}`,
          thumbnail: store.thumbnail(name, cell.layer.number, cell.head),
          color: patternColor(patternOf(cell.layer, cell.head, stack), palette.value),
          palette: palette.value,
          cell: layout.box(row, cell.head),
          room: [-beside, width + beside, height],
        });
      }),
    ];
    return { element: stage, dispose: disposeAll(disposers) };
  }

  return {
    element,
    status: computed(() => statusOf(looked.value, stack.value)),
    legend: computed(() => [
      ...countPatterns(stack.value, palette.value),
      ...[keptAsWeights(stack.value.layers)].filter(Boolean).map((kept) => `   ${kept}`),
    ]),
    dispose,
  };
}

function setBox({ style }: HTMLElement, box: Box): void {
  [style.left, style.top, style.width, style.height] = box.map((side) => `${side}px`);
}

function statusOf({ layer, head }: Cell, stack: StackInfo): Phrase {
  const pattern = patternOf(layer, head, stack);
  const value = (name: keyof LayerInfo["measures"]) => layer.measures[name][head];
  const shares = isSelf(stack)
    ? [
        ` · mean distance ${number(value("distance"), 1)} tokens · to previous ${weight(value("previous"))}`,
        `, next ${weight(value("next"))}, special ${weight(value("special"))}`,
      ]
    : [` · to first ${weight(value("first"))}, special ${weight(value("special"))}`];
  return [
    strong(`Layer ${layer.number} · Head ${head}  `),
    `${pattern === "mixed" ? "" : "mostly "}${PATTERN_NAMES[pattern]} · mean entropy ${number(value("entropy"))} nats`,
    ...shares,
  ];
}
