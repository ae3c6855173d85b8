/** Layers without a softmax: recurrences, and coefficients as they are. */

import { describe, expect, test } from "vitest";
import { checkParts, layerShapes } from "../../src/data/check-block.ts";
import { decodeBlock, type Part } from "../../src/data/codec.ts";
import { explain, sees } from "../../src/data/explanation.ts";
import { LayerData } from "../../src/data/layer-data.ts";
import { ATTENTION, readBy } from "../../src/data/manifest.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { RemoteLayer } from "../../src/data/remote-layer.ts";
import { ResourceCache } from "../../src/data/resource-cache.ts";
import { Store } from "../../src/data/store.ts";
import { lensMatrix } from "../../src/lenses/index.ts";
import { layerWith } from "../support/layers.ts";
import { expectClose, RECORD, RECURRENCES, type RecurrenceCase } from "../support/vectors.ts";

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
    { signed: "coefficients", recurrence },
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

test("decays of many tokens add up without an error", () => {
  const [count, log] = [4000, Math.fround(-1 / 5000)];
  const ones = (length: number) => Array<number>(length).fill(1);
  const layer = layerWith(
    { heads: 1, key_heads: 1, dim: 1, num_queries: count, num_keys: count },
    null,
    {
      queries: [[1, count, 1], ones(count)],
      keys: [[1, count, 1], ones(count)],
      decay: [[1, count, 1], ones(count).map(() => log)],
    },
    {
      signed: "coefficients",
      recurrence: { scale: 1, query_heads: 1, decay: 1, write: false, erase: false, own: null },
    },
  );
  const expected = Math.exp(log * (count - 1));
  expect(layer.weightRow(0, count - 1)[0] / expected).toBeCloseTo(1, 6);
  expect(layer.weightColumn(0, 0)[count - 1] / expected).toBeCloseTo(1, 6);
});

describe.for([RECURRENCES[1], RECURRENCES[5]])("explained, $name", (given) => {
  const layer = layerOf(given);
  const [head, query, { dim }] = [1, 3, given];
  const all = [0, 1, 2, 3];

  test("coefficients are the walked query times the key, times how strongly it is written", () => {
    const { original, shown, peak, ...explanation } = explain(layer, head, query, []);
    expect(shown).toBe(original);
    expect(original.scores).toBeNull();
    const row = layer.weightRow(head, query);
    for (const key of all) {
      expect(row[key]).toBeCloseTo(original.dots[key] * layer.write(head, key), 5);
      expect(original.weights[key]).toBe(row[key]);
    }
    expect(peak).toBe(Math.max(...row.map(Math.abs)));
    const earlier = { ...explanation, original, shown, peak, query: 1 };
    expect(all.map((key) => sees(earlier, key))).toEqual([true, true, false, false]);
    const own = layer.query(head, query)?.map((value) => 0.5 * value) ?? [];
    expectClose(layer.queryAt(head, query, query) ?? [], [...own]);
    expect([...(layer.queryAt(head, 1, 2) ?? [])]).toEqual(Array(dim).fill(0));
  });

  test("muted components are left out of the products, and the query walks as before", () => {
    const { original, shown } = explain(layer, head, query, [0]);
    for (const key of all) {
      const [q, k] = [layer.queryAt(head, query, key) ?? [], layer.key(head, key) ?? []];
      const rest = original.dots[key] - q[0] * k[0];
      expect(shown.dots[key]).toBeCloseTo(rest, 5);
      expect(shown.weights[key]).toBeCloseTo(rest * layer.write(head, key), 5);
    }
  });
});

test("thumbnails have signs, and the scale of their head", () => {
  const { stack, info } = layerOf(RECURRENCES[0]).content;
  const of = RECORD.manifest as Record<"lenses" | "metrics" | "stacks", object[]> & {
    readonly patterns: object;
  };
  const words = { sampled: null, text: null, keys: null };
  const manifest = readManifest({
    ...of,
    lenses: [{ ...of.lenses[0], peaks: { linear: [[4, 1]] }, why_not: {} }],
    stacks: [{ ...of.stacks[0], ...words, name: "linear", queries: stack.queries, layers: [info] }],
    metrics: [{ ...of.metrics[0], values: { linear: [[0, 0]] } }],
    patterns: { ...of.patterns, values: { linear: [[0, 0]] } },
  });
  // Eight bytes for each head: 8 is zero.
  const packed = new Uint8Array(16).fill(0x88);
  packed[0] = 0x1f;
  packed[8] = 0xc8;
  const none = () => Promise.reject(new Error());
  const own = new Store(manifest, packed, { block: none }).stack("linear");
  expect([...own.thumbnail(0, 0).levels].slice(0, 3)).toEqual([-15, 15, 0]);
  expect([...own.thumbnail(0, 1).levels].slice(0, 2)).toEqual([9, 0]);
  const [layer] = manifest.stacks[0].layers;
  const thumbnailOf = (head: number) => own.thumbnail(0, head);
  const rows = new ResourceCache(1000);
  const remote = new RemoteLayer(manifest.stacks[0], layer, thumbnailOf, none, rows);
  expect([...remote.overview(0, "all").values].slice(0, 3)).toEqual([-4, 4, 0]);
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
  const { stack, info } = layerWith(sizes, null, {}, { signed: "contributions", dim: null });
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
    const check = (sent: readonly Part[]) =>
      checkParts(sent, block.error, (parts) => layerShapes(stack, info, [], parts));
    check(block.parts);
    expect(() => check(block.parts.slice(0, 1))).toThrow("This layer has no steps.");
    expect([...layer.weightRow(0, 0)]).toEqual([1.5, 0]);
    expect([...layer.weightRow(1, 1)]).toEqual([0, -10]);
    expect([...layer.weightColumn(0, 0)]).toEqual([1.5, -1]);
    expect([layer.rowRounding(0, 1), layer.rowRounding(1, 0), layer.rounding]).toEqual([
      0.25, 1, 1,
    ]);
  });

  test("are read by the lens of attention, in words of their own, with the sums of a row", () => {
    const lens = readBy(ATTENTION, stack);
    expect([lens.name, lens.one, lens.signed]).toEqual(["attention", "contribution", true]);
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
