/** The legend of the head view: what is drawn, and how exact the numbers are. */

import { largestOf } from "../../basics/extremes.ts";
import { isSigned } from "../../data/attention-matrix.ts";
import { type StackInfo, type Tokens, writesOn } from "../../data/manifest.ts";
import { halfPrecision, keptAsWeights, replayed, weightsWithin } from "../../parts/fidelity.ts";
import { counted, type Phrase, shareShown, signs } from "../../parts/text.ts";
import { generatedLegend } from "../../parts/tokens.ts";
import { isWeights, shownLens } from "../../state/lens.ts";
import { combinesLayers } from "../shared/heads/matrices.ts";
import type { Context } from "../shared/view.ts";
import { legendLine } from "../shared/words.ts";
import type { ShownHeads } from "./shown.ts";

/**
 * @param share the percentage of attention that is drawn; null until all lines are drawn
 */
export function headLegend(
  { state, store, palette }: Context,
  { data, axes, focused, matrix, arcs, rounding }: ShownHeads,
  share: number | null,
): Phrase {
  const { numQueries, numKeys, stack, info } = data;
  const lens = shownLens(state);
  const whole = combinesLayers(state) || lens.accumulates;
  // Sums over the tokens of a word, or over locked tokens, add up their errors.
  const longest = largestOf(axes.key.units.tokens.map(({ length }) => length));
  const together = Math.max(1, focused.value.query.length || focused.value.key.length);
  const error = rounding * longest * together;
  const { overview, difference } = matrix.value;
  const numbers = isWeights(lens) ? "attention" : `the ${lens.many}`;
  const what = difference ? "the difference" : numbers;
  const signed = isSigned(matrix.value);
  const links = signed ? "dashed: annotated links" : "annotated links: solid found, dashed missed";
  return legendLine(signed ? signs(palette.value, difference) : [], [
    arcs.value.length ? links : "",
    overview ? "drawn from the overview" : "",
    signed ? "grey: blue and orange lines cross" : "",
    share === null ? "not all lines are drawn yet" : "",
    share !== null && !overview ? shareShown(share, what) : "",
    isWeights(lens) ? "" : lens.description,
    writesOn(stack, state.shown.texts.value) ? "a query’s row makes the next token" : "",
    generatedLegend(stack.queries, stack.keys),
    keptAsWeights(whole ? stack.layers : [info]),
    weightsWithin(error, whole ? null : data.roundingRows, lens.many),
    (whole ? stack.layers : [info]).map(halfPrecision).find(Boolean) ?? "",
    replayed(store.manifest),
    store.manifest.model,
    onImage(stack.keys) ??
      `${numQueries === numKeys ? numKeys : `${numQueries} × ${numKeys}`} tokens`,
    `${counted(stack.layers.length, "layer")} × ${headCount(stack)}`,
  ]);
}

/** "14 × 14 patches + [CLS]", or "14 × 14 + 4 × (12 × 14) patches" of several grids. */
function onImage({ patches, labels }: Tokens): string | null {
  if (!patches) return null;
  const others = labels.filter((_, token) => patches.of[token] === null);
  const more = others.length > 2 ? `${others.length} tokens` : others.join(" + ");
  if (patches.grids.every(({ rows }) => rows === 1)) return `${labels.length} frames`;
  const sizes = new Map<string, number>();
  for (const { rows, columns } of patches.grids) {
    const size = `${rows} × ${columns}`;
    sizes.set(size, (sizes.get(size) ?? 0) + 1);
  }
  const grids = [...sizes].map(([size, count]) => (count > 1 ? `${count} × (${size})` : size));
  return `${grids.join(" + ")} patches${more && ` + ${more}`}`;
}

/** "12 heads", or "8–12 heads" if layers differ. */
function headCount({ layers }: StackInfo): string {
  const counts = layers.map(({ heads }) => heads);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? counted(most, "head") : `${least}–${most} heads`;
}
