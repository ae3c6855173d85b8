/** The strongest patches of the part that is looked at, or of all images where it is text. */

import { computed } from "@preact/signals-core";
import { el } from "../../parts/dom.ts";
import { weight } from "../../parts/text.ts";
import { type ListedPatch, patchList } from "../shared/picture/patch-list.ts";
import { strongestOf } from "../shared/picture/shade.ts";
import type { Context } from "../shared/view.ts";
import { placeOf } from "./images.ts";
import type { Reading } from "./reading.ts";
import { keysOf } from "./shares.ts";

const LISTED = 6;

export function strongestPatches(
  context: Context,
  { images, parts, weights, patch, linked }: Reading,
): HTMLElement {
  const { scope, state, palette } = context;
  const grids = images.flatMap(({ grids }) => grids);
  const gridOf = (token: number) => grids.find(({ grid }) => grid.of[token] != null);
  const of = computed(() => {
    const part = linked.value === null ? null : parts[linked.value];
    const keys = part && keysOf(part).filter(gridOf);
    return part && keys?.length
      ? { name: part.name, keys }
      : {
          name: images.length > 1 ? "all images" : (images[0]?.name ?? ""),
          keys: images.flatMap(keysOf),
        };
  });
  const listed = computed((): readonly ListedPatch[] => {
    const all = weights.value;
    const own = of.value.keys.filter(gridOf);
    const found = strongestOf(
      own.map((key) => all[key]),
      LISTED,
    ).map((at) => own[at]);
    return found.map((token) => {
      const grid = gridOf(token)?.grid;
      return {
        token,
        name: placeOf(images, token),
        number: weight(all[token]),
        share: all[token] / all[found[0]],
        color: palette.value.accent,
        place: grid ? [grid, grid.of[token] ?? 0] : null,
      };
    });
  });
  const more = el("span", {});
  scope.effect(() => {
    more.textContent = ` of ${of.value.name}`;
  });
  const list = patchList(
    context,
    LISTED,
    listed,
    (token) => {
      patch.value = token;
    },
    (token) => {
      state.grid.value = gridOf(token)?.at ?? null;
    },
  );
  list.setAttribute("aria-label", "Strongest patches");
  const title = el("p", { class: "title" }, el("strong", {}, "Strongest patches"), more);
  return el(
    "section",
    { class: images.length > 1 ? "strongest long" : "strongest long two" },
    title,
    list,
  );
}
