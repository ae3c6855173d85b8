/** Layers without a softmax: recurrences, and coefficients as they are. */

import { describe, expect, test } from "vitest";
import { checkParts, layerShapes } from "../../src/data/check-block.ts";
import { decodeBlock } from "../../src/data/codec.ts";
import { LayerData } from "../../src/data/layer-data.ts";
import { ATTENTION, readBy } from "../../src/data/manifest.ts";
import { lensMatrix } from "../../src/lenses/index.ts";
import { layerWith } from "../support/layers.ts";
import { expectClose, RECURRENCES, type RecurrenceCase } from "../support/vectors.ts";

function layerOf(given: RecurrenceCase): LayerData {
  const { heads, query_heads, key_heads, num_tokens: count, dim, recurrence } = given;
  return layerWith(
    { heads, key_heads, dim, num_queries: count, num_keys: count },
    null,
    {
      queries: [[query_heads, count, dim], given.queries],
      keys: [[key_heads, count, dim], given.keys],
      ...(recurrence.decay && { decay: [[heads, count, recurrence.decay], given.decay] }),
      ...(recurrence.write && { write: [[heads, count], given.write] }),
      ...(recurrence.erase && { erase: [[heads, count], given.erase] }),
    },
    { signed: true, recurrence },
  );
}

describe.for(RECURRENCES)("$name", (given) => {
  const { heads, num_tokens: count, coefficients } = given;
  const layer = layerOf(given);
  const at = (head: number, query: number, key: number) =>
    coefficients[(head * count + query) * count + key];
  const all = Array.from({ length: heads }, (_, head) => head);
  const tokens = Array.from({ length: count }, (_, token) => token);

  test("coefficients, row by row", () => {
    for (const head of all) {
      for (const query of tokens) {
        const row = tokens.map((key) => at(head, query, key));
        expectClose(layer.weightRow(head, query), row);
      }
    }
  });

  test("coefficients, column by column", () => {
    for (const head of all) {
      expect(layer.hasColumns(head)).toBe(true);
      for (const key of tokens) {
        const column = tokens.map((query) => at(head, query, key));
        expectClose(layer.weightColumn(head, key), column);
      }
    }
  });

  test("there are no scores, and queries and keys are those of the heads that share them", () => {
    expect(layer.scoreRow(0, 1)).toBeNull();
    const { dim, query_heads, key_heads } = given;
    const last = heads - 1;
    const ofHead = (values: readonly number[], own: number) =>
      values.slice(((own - 1) * count + 1) * dim, ((own - 1) * count + 2) * dim);
    expect([...(layer.query(last, 1) ?? [])]).toEqual(ofHead(given.queries, query_heads));
    expect([...(layer.key(last, 1) ?? [])]).toEqual(ofHead(given.keys, key_heads));
  });
});

test("a copy has the same coefficients", () => {
  const given = RECURRENCES[2];
  const { stack, info, arrays } = layerOf(given).content;
  expectClose(
    new LayerData(stack, info, arrays).weightRow(1, 3),
    given.coefficients.slice((given.num_tokens + 3) * given.num_tokens).slice(0, given.num_tokens),
  );
});

describe("coefficients as they are", () => {
  const sizes = { heads: 2, key_heads: 2, dim: 1, num_queries: 2, num_keys: 2 };
  const { stack, info } = layerWith(sizes, null, {}, { signed: true, dim: null });
  const block = {
    parts: [
      { name: "coefficients", dtype: "i16", shape: [2, 2, 2] },
      { name: "steps", dtype: "f32", shape: [2] },
    ] as const,
    buffers: [
      new Uint8Array(new Int16Array([3, 0, -2, 1, 32767, 0, 0, -5]).buffer),
      new Uint8Array(new Float32Array([0.5, 2]).buffer),
    ],
    error: { largest: 1 },
  };
  const layer = new LayerData(stack, info, decodeBlock(block), block.error);

  test("are integers times a step of each head, within half of it", () => {
    checkParts(block.parts, block.error, (parts) => layerShapes(stack, info, [], parts));
    expect([...layer.weightRow(0, 0)]).toEqual([1.5, 0]);
    expect([...layer.weightRow(1, 1)]).toEqual([0, -10]);
    expect([...layer.weightColumn(0, 0)]).toEqual([1.5, -1]);
    expect([layer.rowRounding(0, 1), layer.rowRounding(1, 0), layer.rounding]).toEqual([
      0.25, 1, 1,
    ]);
  });

  test("are read by the lens of attention, in words of their own, with the sums of a row", () => {
    const lens = readBy(ATTENTION, stack);
    expect([lens.name, lens.one, lens.signed]).toEqual(["attention", "coefficient", true]);
    const matrix = lensMatrix(lens, layer, 0);
    expect(matrix?.peak).toBe(1.5);
    expect([...(matrix?.row(1) ?? [])]).toEqual([-1, 0.5]);
    const beside = matrix?.beside?.(1, 0).map(({ name, value, error }) => [name, value, error]);
    expect(beside).toEqual([
      ["row Σ", -0.5, 0.5],
      ["Σ|·|", 1.5, 0.5],
    ]);
  });
});
