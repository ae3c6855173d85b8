/** The heads as the model view shows them: in rows, sorted, with pictures by a lens. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { largestOf } from "../../basics/extremes.ts";
import { type Head, isAttention, type LayerInfo } from "../../data/manifest.ts";
import { lensMatrix } from "../../lenses/index.ts";
import { layerNames } from "../../parts/fidelity.ts";
import { numberOf, type Phrase, signs } from "../../parts/text.ts";
import { attentionOf, headLens } from "../../state/lens.ts";
import { metricNamed, type Row, rowsOf } from "../shared/all-heads/heads.ts";
import { pairMetric } from "../shared/all-heads/pair.ts";
import { headsView } from "../shared/all-heads/view.ts";
import { refusalOf } from "../shared/lenses.ts";
import type { Context } from "../shared/view.ts";
import { headImages } from "./images.ts";
import type { Panel } from "./panel.ts";

export type ModelHeads = ReturnType<typeof modelHeads>;

export function modelHeads(context: Context) {
  const { state, store } = context;
  const pair = pairMetric(state, store, true);
  const named = (name: string) => metricNamed(state, name, pair.value.metric);
  /** Null for the order of the model. */
  const sort = computed(() => named(state.sort.value));
  const rows = computed(() =>
    rowsOf(
      state.shown.stack.value,
      sort.value,
      state.include_layers.value,
      state.include_heads.value,
    ),
  );
  return {
    ...headsView(context, "model", rows, pair),
    pair,
    sort,
    /** The metric that is written: the one that colours heads, or sorts them, or the first. */
    metric: computed(() => named(state.color.value) ?? sort.value ?? state.shown.metrics.value[0]),
    pictures: lensPictures(context, rows),
    images: headImages(context),
    /** The opened head; null for none. */
    panel: signal<Panel | null>(null),
  };
}

/**
 * The pictures of heads by the chosen lens, and what is said of them.
 *
 * @param rows the heads that are shown
 */
function lensPictures({ state, store, palette }: Context, rows: ReadonlySignal<readonly Row[]>) {
  const stack = computed(() => store.stack(state.shown.stack.value.name));
  /** Attention where the stack does not have the chosen one. */
  const lens = computed(() => {
    const chosen = headLens(state);
    return refusalOf(state, store, chosen) === null ? chosen : attentionOf(state);
  });
  /** Thumbnails that are computed here; null for a lens whose thumbnails travel. */
  const computedHere = computed(() => {
    const { value } = lens;
    return isAttention(value) || value.kind !== "browser"
      ? null
      : stack.value.computedThumbnails(value, (layer, head) => lensMatrix(value, layer, head));
  });
  return {
    /** The thumbnails of heads as they are now: empty ones while they are computed. */
    thumbnails() {
      const [source, shown, here] = [stack.value, lens.value, computedHere.value];
      return ({ layer, head }: Head) => {
        const [own, loaded] = [source.thumbnail(layer.number, head, shown), here?.value];
        if (loaded?.status === "loading") return { ...own, levels: own.levels.map(() => 0) };
        return (loaded?.status === "ready" && loaded.data.get(layer.number)?.[head]) || own;
      };
    },
    /** Changes when thumbnails that are computed here are ready. */
    loaded: () => computedHere.value?.value,
    /** The scale, and the colours of signs; nothing for shares of 1. */
    scale: computed((): Phrase => {
      const { difference, layers } = state.shown.stack.value;
      const { name, one, many, signed } = lens.value;
      const isSigned = signed || difference !== undefined;
      const peaks = layers.flatMap((layer) => layer.peaks?.[name] ?? []);
      // Those of a profile are shares of magnitudes.
      const ofShares = !isSigned || (isAttention(lens.value) && !difference);
      if (ofShares && !peaks.length && !computedHere.value) return [];
      const magnitude = difference ? "|B − A|" : signed ? `|${one}|` : one;
      const of = difference && computedHere.value ? ` of ${many},` : "";
      const most = numberOf({ lens: lens.value, difference: false }, largestOf(peaks), 0);
      const perHead = computedHere.value || (isAttention(lens.value) && !difference);
      const scaled = perHead ? "per head" : `≤ ${most}`;
      const what = `   pictures: √${magnitude}${of} ${scaled}`;
      return isSigned ? [`${what}, `, ...signs(palette.value, difference !== undefined)] : [what];
    }),
    /** What is not of the lens, or not yet; "" for nothing. */
    remark: computed(() => {
      const { label, many } = lens.value;
      const here = computedHere.value?.value;
      if (here?.status === "loading") return `computing ${many} …`;
      if (here?.status === "failed") return `pictures are of attention: ${here.message}`;
      if (isAttention(lens.value)) return "";
      const has = ({ number }: LayerInfo) =>
        here ? here.data.get(number) : stack.value.hasThumbnail(number, lens.value);
      const others = rows.value.map(({ layer }) => layer).filter((layer) => !has(layer));
      const but = others.length ? `of attention in ${layerNames(others)}; ` : "";
      // The scale says what pictures are of that were computed.
      const of = here ? "" : `pictures are ${label.toLowerCase()}; `;
      return `${of}${but}numbers are of attention`;
    }),
  };
}
