/**
 * The head view of a vision model: the image twice, queries on the left and keys on the right, with
 * a veil over what gets little attention.
 */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import type { AttentionMatrix } from "../../../data/attention-matrix.ts";
import type { Layer } from "../../../data/layer.ts";
import type { Manifest, Patches, Side } from "../../../data/manifest.ts";
import { el } from "../../../parts/dom.ts";
import { matches } from "../../../parts/find.ts";
import { swatches } from "../../../parts/swatches.ts";
import { joined } from "../../../parts/text.ts";
import { cursorOf } from "../../../parts/tokens.ts";
import type { Scope } from "../../../scheduling/scope.ts";
import { lock, lockedOn, toggleAlso, togglePair } from "../../../state/locks.ts";
import { pointAt, type TokenPair } from "../../../state/state.ts";
import { headColors } from "../../../styles/head-colors.ts";
import { NO_ARCS } from "../../shared/arcs.ts";
import { type Axes, focusedUnits } from "../../shared/axes.ts";
import { type Reading, shownMatrix } from "../../shared/heads/matrices.ts";
import { headStatus } from "../../shared/heads/status.ts";
import { headTables } from "../../shared/heads/tables.ts";
import type { Context, ViewContent } from "../../shared/view.ts";
import { figureName } from "../../shared/view.ts";
import { headLegend } from "../legend.ts";
import { attentionSourceOf } from "./attention-source.ts";
import { chips } from "./chips.ts";
import { layoutOf } from "./layout.ts";
import { links } from "./links.ts";
import { maps } from "./maps.ts";
import { numbers } from "./numbers.ts";
import type { Mark } from "./paint.ts";
import { shadesOf, strongestPatches, tokensOf } from "./shade.ts";
import { stage } from "./stage.ts";
import { strongest } from "./strongest.ts";

/** The number of the strongest patches that are framed. */
const FRAMED = 3;

/** The width of a picture whose title fits into one line. */
const ONE_LINE_FROM = 400;

export interface PictureOptions {
  readonly data: Layer;
  readonly axes: Axes;
  readonly patches: Patches;
  /** The matrix shown: of the current head, or of several combined. */
  readonly matrix: ReadonlySignal<AttentionMatrix>;
  /** "Layer 2", or "" if all layers are combined. */
  readonly layerLabel: string;
  /** The numbers that the small pictures of all heads show. */
  readonly reading: Reading;
  readonly rounding: number;
  /** The name of what is drawn, for a file. */
  readonly detail: string;
}

export function pictureContent(
  scope: Scope,
  context: Context,
  options: PictureOptions,
): ViewContent {
  const { state, palette, store } = context;
  const { data, axes, patches, matrix, layerLabel } = options;
  const { heads } = data.info;
  const layout = layoutOf(context.width.value, patches, heads);
  const image = imageOf(store.manifest);
  const focused = focusedUnits(state, axes);
  const isCausal = (data.info.program?.mask ?? "none") !== "none";
  const source = attentionSourceOf(axes, patches, focused, matrix, isCausal);
  const { names, withoutPatch, side, other, from, weights } = source;
  const colors = computed(() => headColors(heads, palette.value.dark));
  const color = computed(() => {
    const { head } = matrix.value;
    return head === null ? palette.value.ink : colors.value[head];
  });
  const titleOf = computed(() => joined(layerLabel, matrix.value.name));

  const query = pictureOf("query");
  const key = pictureOf("key");
  const pair = el("div", { class: "picture-pair" }, query.element, key.element);
  query.element.append(numbers(scope, source, titleOf));
  const lines = links(scope, pair, {
    source,
    sizes: layout,
    stages: { query: query.grid, key: key.grid },
    palette,
    color,
  });
  pair.append(lines);

  /** The pair of the token in focus and another one. */
  function pairWith(token: number): TokenPair {
    const [own] = from.peek();
    return side.peek() === "query" ? { query: own, key: token } : { query: token, key: own };
  }
  const list = strongest(scope, {
    source,
    image,
    color,
    pointAt: (token) => pointAt(state, token === null ? null : pairWith(token)),
    lock: (token) => lock(state, pairWith(token)),
  });
  list.style.width = `${layout.list}px`;

  const top = el("div", { class: `picture-top ${layout.wide ? "wide" : ""}` }, pair, list);
  top.classList.toggle("long-titles", layout.key.width < ONE_LINE_FROM);
  const element = el("div", { class: "picture-view" }, top);
  // A single head is chosen by its map; heads that are combined, by swatches.
  if (state.combine.value === "none") element.append(mapsOfHeads());
  else if (layerLabel) element.prepend(swatches(scope, state, heads, palette));

  /** One of the two pictures, and its tokens without a patch. */
  function pictureOf(on: Side): { element: HTMLElement; grid: HTMLElement } {
    const tokens = tokensOf(patches);
    const weightsHere = computed(() => (other.value === on ? weights.value : null));
    const acting = {
      side: on,
      focused: computed(() => focused.value[on]),
      shown: computed(() => source.shown.value[on]),
      locked: computed(() => lockedOn(state, on)),
      weights: weightsHere,
      rounding: source.rounding,
      pointAt(token: number | null) {
        pointAt(state, token === null ? null : { query: null, key: null, [on]: token });
      },
      toggle(token: number, event: MouseEvent | KeyboardEvent) {
        if (event.shiftKey) togglePair(state, on, token);
        else toggleAlso(state, on, token);
      },
    };
    const heading = title(() => {
      if (side.value === on) {
        const what = on === "query" ? "Query" : "Key";
        return [what, `${source.onPicture.value ? "patch " : ""}${source.name.value}`];
      }
      return on === "query"
        ? ["Queries", `bright: look at ${source.name.value}`]
        : ["Keys", `bright: attended · shade: ${scaleOf()}`];
    });
    const row = chips(scope, { ...acting, tokens: withoutPatch, names, color });
    const grid = stage(scope, {
      ...acting,
      patches,
      size: layout[on],
      image,
      palette,
      shades: computed(() => weightsHere.value && shadesOf(weightsHere.value, tokens, from.value)),
      marks: computed(() => marksOn(on)),
      cursor: cursorOf(state, on),
      leave() {
        if (!withoutPatch.length) return;
        row.focus();
        acting.pointAt(withoutPatch[0]);
      },
    });
    row.hidden = !withoutPatch.length;
    const element = el("div", { class: "picture-side" }, heading, row, grid);
    element.style.width = `${layout[on].width}px`;
    return { element, grid };
  }

  function marksOn(on: Side): readonly Mark[] {
    const { accent } = palette.value;
    const frames = (tokens: readonly number[], color: string, line: number) =>
      tokens.flatMap((token) => {
        const patch = patches.of[token];
        return patch === null ? [] : [{ patch, color, line }];
      });
    const best =
      other.value === on && weights.value
        ? strongestPatches(weights.value, patches, from.value, FRAMED)
        : [];
    return [
      ...frames(matches(names, state.find.value), accent, 1),
      ...frames(best, color.value, 2),
      // On both pictures, or readers look for it on the other one.
      ...frames([...from.value, ...source.shown.value[on]], accent, 2.5),
    ];
  }

  function mapsOfHeads(): HTMLElement {
    const all = computed(() =>
      Array.from({ length: heads }, (_, head) =>
        shownMatrix(state, data, axes, head, options.reading),
      ),
    );
    const heading = title(() => [
      `All heads of layer ${data.info.number}`,
      `${side.value === "query" ? "from" : "to"} ${source.name.value} · shade of each: ${scaleOf("its ")}`,
    ]);
    const group = maps(scope, heads, {
      state,
      source,
      size: layout.map,
      image,
      palette,
      colors,
      matrices: all,
    });
    return el("section", {}, heading, group);
  }

  function scaleOf(whose = ""): string {
    return `√(${matrix.value.difference ? "difference" : matrix.value.lens.one} ÷ ${whose}largest${source.onPicture.value ? " but itself" : ""})`;
  }

  function title(text: () => readonly [what: string, more: string]): HTMLElement {
    const [what, more] = [el("strong", {}), el("span", {})];
    scope.effect(() => {
      [what.textContent, more.textContent] = text();
    });
    return el("div", { class: "title" }, what, " ", more);
  }

  const content = {
    state,
    data,
    axes,
    layerLabel,
    focused,
    matrices: computed(() => [matrix.value]),
    matrix,
    arcs: NO_ARCS,
    strips: computed(() => (weights.value ? [weights.value] : null)),
  };
  return {
    element,
    status: computed(() => headStatus(content)),
    legend: computed(() =>
      headLegend(context, content, options.rounding, shareOf(matrix.value, axes)),
    ),
    tables: computed(() => headTables(content)),
    figure: () => ({
      name: figureName(store.manifest, "head", data.stack, options.detail),
      heading: titleOf.peek(),
      note: "",
      cropped: false,
    }),
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

const decoded = new WeakMap<Manifest, ReadonlySignal<HTMLCanvasElement | null>>();

/** The image; null until it is decoded, or if the browser cannot decode it. */
export function imageOf(manifest: Manifest): ReadonlySignal<HTMLCanvasElement | null> {
  const known = decoded.get(manifest);
  if (known) return known;
  const image = signal<HTMLCanvasElement | null>(null);
  decoded.set(manifest, image);
  if (manifest.image) {
    decode(manifest.image).then(
      (canvas) => {
        image.value = canvas;
      },
      // The patches are still shaded, without the image behind them.
      () => {},
    );
  }
  return image;
}

/** Not by an element's address, which a page whose policy allows no images would not load. */
async function decode(base64: string): Promise<HTMLCanvasElement> {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/webp" }));
  const canvas = document.createElement("canvas");
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas;
}
