/** The strongest keys of the queries in focus (or the queries of keys), each with its patch. */

import { computed } from "@preact/signals-core";
import { paintCanvas } from "../../../painting/canvas.ts";
import { el } from "../../../parts/dom.ts";
import { weight } from "../../../parts/text.ts";
import { lock } from "../../../state/locks.ts";
import { pointAt, type State, type TokenPair } from "../../../state/state.ts";
import { paintImage, partOf } from "./paint.ts";
import { strongestOf } from "./shade.ts";
import type { Picture } from "./source.ts";

/** The number of rows. */
const LISTED = 15;
const THUMBNAIL = 24;
const SQUARE = { width: THUMBNAIL, height: THUMBNAIL };

export function strongest(picture: Picture): HTMLElement {
  const { scope, state, palette, color, other, itself, weights, rounding } = picture;
  const listed = computed(() => (weights.value ? strongestOf(weights.value, LISTED) : []));
  const title = el("h3", {});
  const rows = Array.from({ length: LISTED }, (_, place) => {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const name = el("span", { class: "name" });
    const fill = el("span");
    const number = el("span", { class: "number" });
    const bar = el("span", { class: "weight-bar", "aria-hidden": "true" }, fill);
    const row = el("li", {}, canvas, name, bar, number);
    const withPair = (act: (state: State, pair: TokenPair) => void) => () => {
      const token = listed.peek()[place];
      if (token !== undefined) act(state, picture.pairWith(token));
    };
    row.addEventListener("pointermove", withPair(pointAt));
    row.addEventListener("click", withPair(lock));
    return { row, canvas, name, fill, number };
  });
  const list = el("ol", {}, ...rows.map(({ row }) => row));
  const columns = ["row,column", "weight"].map((name) => el("span", {}, name));
  const head = el("div", { class: "columns", "aria-hidden": "true" }, ...columns);
  list.addEventListener("pointerleave", () => pointAt(state, null));
  const long = picture.gridsOf(picture.main).length > 1;
  const element = el("section", { class: `strongest ${long ? "long" : ""}` }, title, head, list);

  scope.effect(() => {
    const what = other.value === "key" ? "Strongest keys" : "Strongest queries";
    title.textContent = what;
    list.setAttribute("aria-label", what);
  });
  scope.effect(() => {
    const values = weights.value;
    const [first] = listed.value;
    const { names, patches } = picture[other.value];
    rows.forEach(({ row, canvas, name, fill, number }, at) => {
      const token = listed.value[at];
      // Rows without a token keep their place, so that nothing below moves.
      row.style.visibility = token === undefined || !values ? "hidden" : "";
      if (token === undefined || !values) return;
      const place = picture.placeOf(other.value, token);
      const isElsewhere = place && patches?.of[token] === null;
      const where = isElsewhere && !names[token].includes(place[0].name) ? ` ${place[0].name}` : "";
      const own = itself.value.includes(token) ? " itself" : "";
      name.textContent = `${names[token]}${where}${own}`;
      if (long) name.title = name.textContent;
      number.textContent = weight(values[token], rounding(token));
      fill.style.width = `${(100 * values[token]) / values[first]}%`;
      fill.style.background = color.value;
      const whole = place && picture.imageOf(place[0]).value;
      canvas.style.visibility = whole ? "" : "hidden";
      if (!place || !whole) return;
      paintCanvas(canvas, THUMBNAIL, THUMBNAIL, (painter) =>
        paintImage(
          painter,
          whole,
          { box: partOf(place[1], place[0]) },
          null,
          SQUARE,
          palette.value,
        ),
      );
    });
  });
  return element;
}
