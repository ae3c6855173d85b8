import type { LayerData } from "../../src/data/layer-data.ts";

/** All weights of a head, row by row. */
export const matrixOf = (layer: LayerData, head: number): number[] =>
  Array.from({ length: layer.numQueries }, (_, i) => [...layer.weightRow(head, i)]).flat();
