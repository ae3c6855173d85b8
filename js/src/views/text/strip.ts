/** A long prompt as a strip: where in it the shades are, and what of it is in sight. */

import { signal } from "@preact/signals-core";
import { paintCanvas, strokeBox } from "../../painting/canvas.ts";
import { el } from "../../parts/dom.ts";
import { alpha } from "../../styles/palette.ts";
import type { Context } from "../shared/view.ts";
import type { Reading } from "./reading.ts";

const WIDTH = 12;
/** The height of a cell, in CSS pixels; it has the largest shade of its tokens. */
const CELL = 6;
/** Shown for prompts that are so many times as high as what is in sight. */
const LONG = 1.5;

/** @param prompt the element whose text the strip stands for */
export function strip(
  { scope, palette, height }: Context,
  { look }: Reading,
  prompt: HTMLElement,
): HTMLElement {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const element = el("div", { class: "prompt-strip" }, canvas);
  const scroller = () => prompt.closest<HTMLElement>(".body");
  /** What is in sight of the prompt, as shares of its height. */
  const sight = signal<readonly [from: number, to: number]>([0, 1]);
  const see = () => {
    const around = scroller()?.getBoundingClientRect();
    const own = prompt.getBoundingClientRect();
    if (!around || !own.height) return;
    const share = (at: number) => Math.min(1, Math.max(0, (at - own.top) / own.height));
    sight.value = [share(around.top), share(around.bottom)];
    element.hidden = own.height < LONG * around.height;
  };
  scope.onResize(prompt, () => {
    // A listener that is there already is not added again.
    scroller()?.addEventListener("scroll", see, { passive: true, signal: scope.signal });
    see();
  });
  scope.effect(() => {
    const { weights, counted, even, largest } = look.value;
    const [from, to] = sight.value;
    const { ink, accent } = palette.value;
    const tall = Math.max(120, height.value - 220);
    const tokens = counted.lastIndexOf(true) + 1;
    paintCanvas(canvas, WIDTH, tall, (painter) => {
      const cells = Math.floor(tall / CELL);
      const most = new Float32Array(cells);
      for (let key = 0; key < tokens; key++) {
        const cell = Math.min(cells - 1, Math.floor((key / tokens) * cells));
        if (counted[key]) most[cell] = Math.max(most[cell], weights[key]);
      }
      most.forEach((weight, cell) => {
        const share = Math.sqrt(Math.max(0, weight - even) / (largest - even || 1));
        painter.fillStyle = alpha(ink, 0.08 + 0.92 * share);
        painter.fillRect(2, cell * CELL, WIDTH - 4, CELL - 1);
      });
      const part = Math.max(6, (to - from) * tall - 1);
      strokeBox(painter, [0.5, from * tall + 0.5, WIDTH - 1, part], accent);
    });
  });
  canvas.addEventListener("click", ({ offsetY }) => {
    const [within, own] = [scroller(), prompt.getBoundingClientRect()];
    const around = within?.getBoundingClientRect();
    if (!within || !around) return;
    const at = own.top + (offsetY / canvas.offsetHeight) * own.height;
    within.scrollTop += at - (around.top + around.bottom) / 2;
  });
  return element;
}
