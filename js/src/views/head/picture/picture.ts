/**
 * The head view of a vision model: the image twice, queries on the left and keys on the right, with
 * a veil over what gets little attention.
 */

import { computed } from "@preact/signals-core";
import type { AttentionMatrix } from "../../../data/attention-matrix.ts";
import { gridShown, type Side } from "../../../data/manifest.ts";
import { el } from "../../../parts/dom.ts";
import { matches } from "../../../parts/find.ts";
import { swatches } from "../../../parts/swatches.ts";
import { joined, weight } from "../../../parts/text.ts";
import { cursorOf, NAMES } from "../../../parts/tokens.ts";
import { attentionOf } from "../../../state/lens.ts";
import type { Axes } from "../../shared/axes.ts";
import { shownMatrix } from "../../shared/heads/matrices.ts";
import { chooser } from "../../shared/picture/chooser.ts";
import { type Mark, marksOf } from "../../shared/picture/paint.ts";
import { pieceOf } from "../../shared/picture/places.ts";
import { strongestPatches } from "../../shared/picture/shade.ts";
import { stage } from "../../shared/picture/stage.ts";
import { type Context, figureOf, type ViewContent } from "../../shared/view.ts";
import { headLegend } from "../legend.ts";
import type { ShownHeads } from "../shown.ts";
import { chips } from "./chips.ts";
import { links } from "./links.ts";
import { maps } from "./maps.ts";
import { numbers } from "./numbers.ts";
import { type Grids, pictureOf } from "./source.ts";
import { strongest } from "./strongest.ts";

/** The number of the strongest patches that are framed. */
const FRAMED = 3;

/** The width of a picture whose title fits into one line. */
const ONE_LINE_FROM = 400;

export function pictureContent(context: Context, content: ShownHeads, grids: Grids): ViewContent {
  const { scope, state, palette, store } = context;
  const { data, axes, matrix, layerLabel, reading, detail: of } = content;
  const picture = pictureOf(context, content, grids);
  const { layout, side, other, itself, weights, onPicture, color, main } = picture;
  const titleOf = computed(() => joined(layerLabel, matrix.value.name));

  const query = sideOf("query");
  const key = sideOf("key");
  const pair = el("div", { class: "picture-pair" }, query.element, key.element);
  query.element.append(numbers(picture, titleOf));
  pair.append(links(picture, pair, { query: query.grid, key: key.grid }));
  const list = strongest(picture);
  list.style.width = `${layout.list}px`;
  const top = el("div", { class: `picture-top ${layout.wide ? "wide" : ""}` }, pair, list);
  top.classList.toggle("long-titles", layout.key.width < ONE_LINE_FROM);

  const element = el("div", { class: "picture-view" }, top);
  // A single head is chosen by its map; heads that are combined, by swatches.
  if (state.combine.value === "none") element.append(mapsOfHeads());
  else if (layerLabel) element.prepend(swatches(scope, state, data.info.heads, palette));
  const { queries, keys } = data.stack;
  const shown = gridShown(main === "key" ? keys : queries, state.grid.peek());
  const chosen = computed(() => (picture.onMain.value ? weights.value : null));
  const small = chooser(context, {
    label: "Images",
    grids: picture.grids.map((grid, at) => ({ at, grid })),
    shown,
    weights: chosen,
    largest: computed(() => (chosen.value ? picture.largest(chosen.value) : 0)),
    total: computed(() => chosen.value?.reduce((sum, weight) => sum + weight, 0) ?? 0),
    marks: (grid) => picture.framesOn(grid),
  });
  top.before(small ?? "");

  /** One of the two pictures, and its tokens without a patch. */
  function sideOf(on: Side): { element: HTMLElement; grid: HTMLElement | null } {
    const here = picture[on];
    const { patches, withoutPatch } = here;
    const heading = title(() => {
      const { value: name } = picture.name;
      if (side.value === on) {
        return [
          on === "query" ? "Query" : "Key",
          `${onPicture.value && patches ? `${pieceOf(patches)} ` : ""}${name}`,
        ];
      }
      return on === "query"
        ? ["Queries", `bright: look at ${name}`]
        : ["Keys", `bright: attended · shade: ${scaleOf(picture.one.value)}`];
    });
    const row = chips(picture, here);
    row.hidden = !withoutPatch.length;
    const marks = computed(() => marksOn(on, here.shown.value));
    const grid =
      patches &&
      stage(context, {
        patches,
        tokens: here.tokens,
        size: layout[on],
        label: NAMES[on],
        cell: `${on}-patch`,
        weights: here.weights,
        largest: picture.largest,
        marks,
        focused: here.focused,
        cursor: cursorOf(state, on),
        said: (token) =>
          [
            patches.rows === 1 ? here.names[token] : "",
            here.weights.value &&
              `${picture.one.value} ${weight(here.weights.value[token], picture.rounding(token))}`,
          ]
            .map((each) => each && `, ${each}`)
            .join(""),
        isLocked: (token) => here.locked.value.includes(token),
        look: here.pointAt,
        toggle: here.toggle,
        leave() {
          if (!withoutPatch.length) return;
          row.focus();
          here.pointAt(withoutPatch[0]);
        },
      });
    const element = el("div", { class: "picture-side" }, heading, row, grid ?? "");
    element.style.width = `${layout[on].width}px`;
    return { element, grid };
  }

  /** @param shown the tokens on this side whose attention is shown */
  function marksOn(on: Side, shown: readonly number[]): readonly Mark[] {
    const { accent } = palette.value;
    const { patches, names } = picture[on];
    if (!patches) return [];
    const frames = (tokens: readonly number[], color: string, line: number) =>
      marksOf(tokens, patches, color, line);
    const best =
      other.value === on && weights.value
        ? strongestPatches(weights.value, patches, itself.value, FRAMED)
        : [];
    return [
      ...frames(matches(names, state.find.value), accent, 1),
      ...frames(best, color.value, 2),
      // On both pictures, or readers look for it on the other one.
      ...frames([...itself.value, ...shown], accent, 2.5),
      ...picture.boxesOn(patches, 2.5),
    ];
  }

  function mapsOfHeads(): HTMLElement {
    // Heads have no lens of whole layers.
    const own = reading.lens.kind === "layers" ? { lens: attentionOf(state) } : reading;
    const all = computed(() =>
      Array.from({ length: data.info.heads }, (_, head) =>
        shownMatrix(state, data, axes, head, own),
      ),
    );
    const heading = title(() => [
      `All heads of layer ${data.info.number}`,
      `${side.value === "query" ? "from" : "to"} ${picture.name.value} · shade of each: ${scaleOf(own.lens.one, "its ")}`,
    ]);
    return el("section", {}, heading, maps(picture, all));
  }

  function scaleOf(one: string, whose = ""): string {
    return `√(${one} ÷ ${whose}largest of ${onPicture.value ? "another" : "a"} patch)`;
  }

  function title(text: () => readonly [what: string, more: string]): HTMLElement {
    const [what, more] = [el("strong", {}), el("span", {})];
    scope.effect(() => {
      [what.textContent, more.textContent] = text();
    });
    return el("div", { class: "title" }, what, " ", more);
  }

  return {
    element,
    status: content.status,
    legend: computed(() => headLegend(context, content, shareOf(matrix.value, axes))),
    tables: content.tables,
    figure: () =>
      figureOf(store.manifest, "head", data.stack, { of, heading: titleOf.peek(), note: "" }),
  };
}

/** The percentage of the attention of the queries shown that the keys shown have. */
function shareOf(matrix: AttentionMatrix, { query, key }: Axes): number {
  if (key.shown.length === key.names.length) return 100;
  let [part, all] = [0, 0];
  for (const at of query.shown) {
    const row = matrix.row(at, true);
    all += row.reduce((sum, weight) => sum + weight, 0);
    part += key.shown.reduce((sum, to) => sum + row[to], 0);
  }
  return (100 * part) / all;
}
