/** Lines from the tokens in focus to the strongest of the other picture. */

import type { Side } from "../../../data/manifest.ts";
import { paintCanvas } from "../../../painting/canvas.ts";
import { el } from "../../../parts/dom.ts";
import { nextFrame } from "../../../scheduling/frame.ts";
import { alpha } from "../../../styles/palette.ts";
import { strokeCurve } from "../../shared/curves.ts";
import { boxOf } from "../../shared/picture/places.ts";
import { strongestOf } from "../../shared/picture/shade.ts";
import type { Picture } from "./source.ts";

/** The most lines, and the least share of the largest weight that has one. */
const MOST = 12;
const LEAST = 0.15;

/** Lay lines over `around`, which has both pictures. */
export function links(
  picture: Picture,
  around: HTMLElement,
  stages: Readonly<Record<Side, HTMLElement | null>>,
): HTMLElement {
  const { scope, layout, palette, color, side, from, itself, weights } = picture;
  const canvas = el("canvas", { class: "overlay", "aria-hidden": "true" });

  /** The point of a token where lines end, in CSS pixels from the corner of `around`. */
  function place(on: Side, token: number): readonly [x: number, y: number] | null {
    const corner = around.getBoundingClientRect();
    const { patches } = picture[on];
    const patch = patches?.of[token] ?? null;
    // A token on another grid has no chip.
    if (!patches || patch === null) {
      const chip = around.querySelector(`#${on}-token-${token}`);
      const [box, list] = [chip, chip?.parentElement].map((each) => each?.getBoundingClientRect());
      if (!box || !list) return null;
      const edge = on === "query" ? box.right : box.left;
      // A chip may be scrolled out of its list.
      const middle = Math.min(Math.max(box.top + box.height / 2, list.top), list.bottom);
      return [edge - corner.left, middle - corner.top];
    }
    const stage = stages[on]?.getBoundingClientRect();
    if (!stage) return null;
    const box = boxOf(patch, patches, layout[on]);
    const x = on === "query" ? box.left + box.width : box.left + box.width / 2;
    return [stage.left - corner.left + x, stage.top - corner.top + box.top + box.height / 2];
  }

  function draw(): void {
    if (!canvas.isConnected) return;
    const [own, values, starts] = [side.peek(), weights.peek() ?? [], from.peek()];
    const other = own === "query" ? "key" : "query";
    // The attention of a patch to itself has no line: it may be far above all other.
    const others = strongestOf(values, MOST + starts.length).filter(
      (token) => !itself.peek().includes(token),
    );
    const largest = others.length ? values[others[0]] : 0;
    const shown = others.slice(0, MOST).filter((token) => values[token] >= LEAST * largest);
    const { clientWidth, clientHeight } = around;
    const background = palette.peek().background;
    paintCanvas(canvas, clientWidth, clientHeight, (painter) => {
      // The strongest last, above the others.
      for (const token of [...shown].reverse()) {
        const share = values[token] / largest;
        for (const start of starts) {
          const [a, b] = [place(own, start), place(other, token)];
          if (!a || !b) continue;
          const [left, right] = own === "query" ? [a, b] : [b, a];
          for (const [stroke, width] of [
            [alpha(background, 0.7), 2.6 + 1.4 * share],
            [alpha(color.peek(), 0.45 + 0.55 * share), 0.8 + 1.6 * share],
          ] as const) {
            painter.strokeStyle = stroke;
            painter.lineWidth = width;
            strokeCurve(painter, left[0], left[1], right[0], right[1]);
          }
        }
      }
    });
  }

  scope.effect(() => {
    for (const each of [palette, color, side, from, weights]) each.value;
    // Pictures and chips have no place before the view is in the page.
    if (!canvas.isConnected) return nextFrame(draw);
    return draw();
  });
  scope.onResize(around, draw);
  return canvas;
}
