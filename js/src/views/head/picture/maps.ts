/** Small maps of all heads of the layer, for the tokens in focus; a click chooses the head. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { largestOf } from "../../../basics/extremes.ts";
import { type AttentionMatrix, roundingOfSum } from "../../../data/attention-matrix.ts";
import { paintCanvas } from "../../../painting/canvas.ts";
import { button, el, setAttributes } from "../../../parts/dom.ts";
import { weight } from "../../../parts/text.ts";
import { goTo } from "../../../state/navigation.ts";
import { stripsOf } from "../../shared/heads/matrices.ts";
import { imageOf, paintImage, paintMarks, veilOf } from "../../shared/picture/paint.ts";
import { shadesOf } from "../../shared/picture/shade.ts";
import type { Picture } from "./source.ts";

/** @param matrices by head */
export function maps(
  picture: Picture,
  matrices: ReadonlySignal<readonly AttentionMatrix[]>,
): HTMLElement {
  const { scope, state, palette, colors, main, onMain, other, from, side } = picture;
  const { patches, tokens } = picture[main];
  const size = picture.layout.map;
  const weights = stripsOf(matrices, picture.shown);
  const image = patches && imageOf(picture.store.manifest.images[patches.image]);
  const group = el("div", { class: "maps", role: "group", "aria-label": "Heads" });
  for (let head = 0; head < colors.peek().length; head++) {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const line = el("span", { class: "line" });
    const number = el("span", { class: "number" });
    const caption = el("span", { class: "caption" }, el("span", {}, `${head}`), number);
    const element = button({ class: "map" }, "", () => goTo(state, { head }));
    element.style.width = `${size.width}px`;
    element.append(canvas, line, caption);
    group.append(element);
    const row = computed(() => weights.value?.[head] ?? null);
    scope.effect(() => {
      const values = row.value;
      const { names, placed, withoutPatch } = picture[other.value];
      const first = withoutPatch.at(0);
      const most = values && placed.length ? picture.largest(values) : null;
      if (patches && image) {
        const seen = values && onMain.value ? shadesOf(values, tokens, most ?? 0) : null;
        const veil = seen && veilOf(seen, patches, palette.value);
        const marks = picture.framesOn(patches);
        paintCanvas(canvas, size.width, size.height, (painter) => {
          paintImage(painter, image.value, patches, veil, size, palette.value);
          paintMarks(painter, marks, patches, size, palette.value);
        });
      }
      const onFirst = values && first !== undefined ? values[first] : null;
      const roundingAt = (token: number) =>
        roundingOfSum(matrices.value[head], side.value, from.value, token);
      const onPicture = most === null ? 0 : largestOf(placed.map(roundingAt));
      const largest = most === null ? "" : `largest of a patch ${weight(most, onPicture)}`;
      const label = names[first ?? 0];
      const error = first === undefined ? 0 : roundingAt(first);
      const ofMost = most === null ? "" : short("max", most, onPicture);
      number.textContent = onFirst === null ? ofMost : short(label, onFirst, error);
      const named = onFirst === null ? "" : `${label} ${weight(onFirst, error)}`;
      const name = [`Head ${head}`, named, largest].filter(Boolean).join(", ");
      setAttributes(element, { "aria-label": name, title: name });
    });
    scope.effect(() => {
      const current = state.shown.head.value === head;
      setAttributes(element, { "aria-pressed": `${current}` });
      line.style.background = colors.value[head];
    });
  }
  return group;
}

/** "CLS .04", for a caption: at most two decimals, and never zero for a number above it. */
function short(name: string, value: number, error: number): string {
  // Two decimals are right if the error is that of three.
  const text = weight(value, Math.max(error, 0.001)).replace(/(?<=^<?)0\./, ".");
  return `${name.replace(/[[\]]/g, "")} ${text}`;
}
