/** The common part of a head's matrices by lenses: its name, and the weight beside a number. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import type { RecordLayer } from "../data/layer.ts";
import type { LensInfo } from "../data/manifest.ts";

export const ofWeights = (
  lens: LensInfo,
  layer: RecordLayer,
  head: number,
): Pick<
  AttentionMatrix,
  "name" | "lens" | "difference" | "head" | "spec" | "source" | "beside"
> => ({
  name: `Head ${head}, ${lens.label.toLowerCase()}`,
  lens,
  difference: false,
  head,
  spec: { kind: "lens", lens, head },
  source: layer.whole,
  beside: (query, key) => [weightBeside(layer, head, query, key)],
});

export const weightBeside = (layer: RecordLayer, head: number, query: number, key: number) =>
  ({
    name: "weight",
    value: layer.weightRow(head, query)[key],
    error: layer.rowRounding(head, query),
    as: "weight",
  }) as const;
