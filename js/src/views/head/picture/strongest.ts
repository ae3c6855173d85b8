/** The strongest keys of the queries in focus (or the queries of keys), each with its patch. */

import { computed } from "@preact/signals-core";
import { el } from "../../../parts/dom.ts";
import { weight } from "../../../parts/text.ts";
import { lock } from "../../../state/locks.ts";
import { pointAt } from "../../../state/state.ts";
import { type ListedPatch, patchList } from "../../shared/picture/patch-list.ts";
import { strongestOf } from "../../shared/picture/shade.ts";
import type { Picture } from "./source.ts";

/** The number of rows. */
const LISTED = 15;

export function strongest(picture: Picture): HTMLElement {
  const { scope, state, color, other, itself, weights, rounding } = picture;
  const listed = computed((): readonly ListedPatch[] => {
    const values = weights.value;
    if (!values) return [];
    const { names, patches } = picture[other.value];
    const found = strongestOf(values, LISTED);
    return found.map((token) => {
      const place = picture.placeOf(other.value, token);
      const isElsewhere = place && patches?.of[token] === null;
      const where =
        isElsewhere && !names[token].includes(place[0].name) && !/^\d/.test(place[0].name)
          ? ` ${place[0].name}`
          : "";
      const own = itself.value.includes(token) ? " itself" : "";
      return {
        token,
        name: `${names[token]}${where}${own}`,
        number: weight(values[token], rounding(token)),
        share: values[token] / values[found[0]],
        color: color.value,
        place,
      };
    });
  });
  const title = el("h3", {});
  const isSound = picture.grids.some(({ rows }) => rows === 1);
  const one = el("span", {});
  const where = el("span", {}, isSound ? "time" : "row,column");
  const head = el("div", { class: "columns", "aria-hidden": "true" }, where, one);
  const list = patchList(
    picture,
    LISTED,
    listed,
    (token) => pointAt(state, token === null ? null : picture.pairWith(token)),
    (token) => lock(state, picture.pairWith(token)),
  );
  const long = picture.grids.length > 1;
  const element = el("section", { class: `strongest ${long ? "long" : ""}` }, title, head, list);

  scope.effect(() => {
    const what = other.value === "key" ? "Strongest keys" : "Strongest queries";
    title.textContent = what;
    one.textContent = picture.one.value;
    list.setAttribute("aria-label", what);
  });
  return element;
}
