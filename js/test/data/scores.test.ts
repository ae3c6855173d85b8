import { beforeEach, describe, expect, test } from "vitest";
import type { LayerData } from "../../src/data/layer-data.ts";
import { compiled, compiledModule, useModule } from "../../src/kernels/compiled.ts";
import { layerWith } from "../support/layers.ts";
import { expectClose, SCORES, type ScoreCase } from "../support/vectors.ts";

function layerOf(given: ScoreCase): LayerData {
  const { heads, key_heads, dim, num_queries, num_keys } = given;
  const shapes = {
    queries: [heads, num_queries, dim],
    keys: [key_heads, num_keys, dim],
    ...given.shapes,
  };
  const arrays = Object.entries(shapes).map(([name, shape]) => {
    return [name, [shape, given[name as keyof typeof shapes] ?? []]] as const;
  });
  return layerWith(given, given.program, Object.fromEntries(arrays));
}

/** Row i of head h in a flat [heads, Tq, Tk]. */
const row = <Value>(
  { num_queries, num_keys }: ScoreCase,
  flat: readonly Value[],
  h: number,
  i: number,
) => flat.slice((h * num_queries + i) * num_keys, (h * num_queries + i + 1) * num_keys);

await compiled();
const KERNELS = [
  { kernels: "TypeScript", module: null },
  { kernels: "WebAssembly", module: compiledModule() },
];
const CASES = KERNELS.flatMap((with_) => SCORES.map((given) => ({ ...given, ...with_ })));

test("WebAssembly is to be had", () => expect(compiledModule()).not.toBeNull());

describe.for(CASES)("$name in $kernels", (given) => {
  beforeEach(() => useModule(given.module));
  const heads = Array.from({ length: given.heads }, (_, head) => head);
  const queries = Array.from({ length: given.num_queries }, (_, i) => i);

  test("scores, row by row", () => {
    const layer = layerOf(given);
    for (const head of heads) {
      for (const i of queries) {
        expectClose(layer.scoreRow(head, i) ?? [], row(given, given.scores, head, i));
      }
    }
  });

  test("weights, row by row", () => {
    const layer = layerOf(given);
    for (const head of heads) {
      for (const i of queries) {
        expectClose(layer.weightRow(head, i), row(given, given.weights, head, i));
      }
    }
  });

  test("weights, column by column", () => {
    const layer = layerOf(given);
    for (const head of heads) {
      for (let j = 0; j < given.num_keys; j++) {
        const column = queries.map((i) => row(given, given.weights, head, i)[j]);
        expectClose(layer.weightColumn(head, j), column);
      }
    }
  });

  test("a column is the same number for number as in the rows", () => {
    const layer = layerOf(given);
    for (const head of heads) {
      for (let j = 0; j < given.num_keys; j++) {
        const column = queries.map((i) => layer.weightRow(head, i)[j]);
        expect([...layer.weightColumn(head, j)]).toEqual(column);
      }
    }
  });

  test("muted components are those of a query that is zero there", () => {
    const layer = layerOf(given);
    const muted = Array.from({ length: given.dim - 1 }, (_, n) => n);
    const queries = given.queries.map((value, at) =>
      at % given.dim === given.dim - 1 ? value : 0,
    );
    const zeroed = layerOf({ ...given, queries });
    for (const head of heads) {
      expect(layer.scoreRow(head, 1, muted)).toEqual(zeroed.scoreRow(head, 1));
      expect(layer.weightRow(head, 1, muted)).toEqual(zeroed.weightRow(head, 1));
      expectClose(layer.scoreRow(head, 1) ?? [], row(given, given.scores, head, 1));
    }
  });

  test("without every component, what is left is the bias", () => {
    const layer = layerOf(given);
    const all = Array.from({ length: given.dim }, (_, n) => n);
    for (const head of heads) {
      for (const i of queries) {
        const bias = layer.biasRow(head, i);
        expect(bias !== null).toBe(given.program.bias || given.program.relative);
        const left = layer.scoreRow(head, i, all) ?? [];
        left.forEach((score, j) => {
          if (score > Number.NEGATIVE_INFINITY) expect(score).toBeCloseTo(bias?.[j] ?? 0, 6);
        });
      }
    }
  });

  test("the sink of each head", () => {
    const layer = layerOf(given);
    expect(heads.map((head) => layer.sink(head))).toEqual(
      given.program.sinks ?? heads.map(() => null),
    );
  });

  test("query and key vectors", () => {
    const layer = layerOf(given);
    const { dim } = given;
    for (const head of heads) {
      const keyHead = Math.floor(head / (given.heads / given.key_heads));
      const q = (head * given.num_queries + 1) * dim;
      const k = (keyHead * given.num_keys + 2) * dim;
      expect([...(layer.query(head, 1) ?? [])]).toEqual(given.queries.slice(q, q + dim));
      expect([...(layer.key(head, 2) ?? [])]).toEqual(given.keys.slice(k, k + dim));
    }
  });
});
