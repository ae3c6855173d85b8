/** Weights times a factor of each head and key, as shares of their row. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import type { RecordLayer } from "../data/layer.ts";
import type { LensInfo } from "../data/manifest.ts";
import { ofWeights, weightBeside } from "./lens.ts";

/** Null if the layer has no factors, or is not here as a whole. */
export function shareMatrix(
  lens: LensInfo,
  layer: RecordLayer,
  head: number,
): AttentionMatrix | null {
  const { whole } = layer;
  const factors = whole?.factors(lens, head);
  if (!whole || !factors) return null;
  const [factor, product] = lens.symbols ?? ["factor", "product"];
  return {
    ...ofWeights(lens, whole, head),
    row: (query) => whole.shareRow(lens, head, query),
    column: (key) => whole.shareColumn(lens, head, key),
    hasColumns: () => whole.hasColumns(head),
    rounding: () => whole.shareRounding,
    largestRounding: whole.shareRounding,
    beside(query, key) {
      const weight = weightBeside(whole, head, query, key);
      const [own, error] = [factors[key], weight.error * factors[key]];
      return [
        weight,
        { name: factor, value: own, error: 0, as: "significant" },
        { name: product, value: weight.value * own, error, as: "number" },
      ];
    },
  };
}
