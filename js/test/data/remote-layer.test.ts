/** Rows of a layer that is too large to be here as a whole are the layer's, or not known. */

import { computed } from "@preact/signals-core";
import { describe, expect, test } from "vitest";
import { combinedMatrix, wordMatrix } from "../../src/data/attention-matrix.ts";
import type { Block } from "../../src/data/codec.ts";
import type { Side } from "../../src/data/manifest.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { RemoteLayer } from "../../src/data/remote-layer.ts";
import { ResourceCache } from "../../src/data/resource-cache.ts";
import { eventually } from "../support/eventually.ts";
import { headMatrix } from "../support/lenses.ts";
import { expectClose, type Numbers, RECORD } from "../support/vectors.ts";
import { watch } from "../support/watch.ts";

const [STACK] = readManifest(RECORD.manifest).stacks;
const COUNT = STACK.queries.labels.length;

/** The kernel's reply for a layer of the record. */
function answerOf(layer: number, side: Side, position: number): Block {
  const { heads, program } = STACK.layers[layer];
  const name = side === "query" && program ? "scores" : "weights";
  const all = (name === "scores" ? RECORD.scores[layer] : RECORD.weights[layer]) as Numbers;
  const cells = Array.from({ length: heads * COUNT }, (_, n) => {
    const [head, at] = [Math.floor(n / COUNT), n % COUNT];
    const [row, column] = side === "query" ? [position, at] : [at, position];
    return all[(head * COUNT + row) * COUNT + column] ?? Number.NEGATIVE_INFINITY;
  });
  const values = Float32Array.from(cells);
  return {
    parts: [{ name, dtype: "f32", shape: [heads, COUNT] }],
    buffers: [new Uint8Array(values.buffer)],
  };
}

const ROOMY = 2 ** 20;
const BLANK = { rows: 1, columns: 1, levels: new Int8Array(1), signed: false };

function remote(layer: number, cache = new ResourceCache(ROOMY)) {
  const asked: { place: string; give(): void; fail(reason: unknown): void }[] = [];
  const made = new RemoteLayer(
    STACK,
    STACK.layers[layer],
    () => BLANK,
    (side, position) =>
      new Promise((resolve, reject) => {
        const give = () => resolve(answerOf(layer, side, position));
        asked.push({ place: `${side} ${position}`, give, fail: reject });
      }),
    cache,
  );
  return { made, asked };
}

const part = (layer: number, head: number) => {
  const weights = RECORD.weights[layer];
  return weights.slice(head * COUNT * COUNT, (head + 1) * COUNT * COUNT);
};

describe.for([0, 1, 2])("layer %i", (layer) => {
  test("is not known before it has come, and then is the layer's", async () => {
    const { made, asked } = remote(layer);
    const row = computed(() => made.weightRow(1, 4));
    const column = computed(() => made.weightColumn(1, 3));
    const missing = computed(() => made.pending("query", 4));
    for (const value of [row, column, missing]) watch(value);
    expect([...row.value, ...column.value].every(Number.isNaN)).toBe(true);
    expect(missing.value).toBe("waiting for the kernel …");
    expect(asked.map(({ place }) => place)).toEqual(["query 4", "key 3"]);
    for (const { give } of asked) give();
    await eventually(() => expect(column.value[0]).not.toBeNaN());
    expectClose(row.value, part(layer, 1).slice(4 * COUNT, 5 * COUNT));
    expectClose(
      column.value,
      part(layer, 1).filter((_, n) => n % COUNT === 3),
    );
    expect(missing.value).toBeNull();
    // Every head came along.
    expectClose(made.weightRow(0, 4), part(layer, 0).slice(4 * COUNT, 5 * COUNT));
    expect(asked.length).toBe(2);
  });

  test("gives the weights of a query in every head", async () => {
    const { made, asked } = remote(layer);
    const coming = made.weights(4, new AbortController().signal);
    asked[0].give();
    const weights = await coming;
    expect(weights.length).toBe(STACK.layers[layer].heads);
    weights.forEach((row, head) => {
      expectClose(row, part(layer, head).slice(4 * COUNT, 5 * COUNT));
    });
  });

  test("has the scores that were recorded", async () => {
    const { made, asked } = remote(layer);
    const row = computed(() => made.scoreRow(1, 2));
    watch(row);
    if (!RECORD.scores[layer]) {
      expect(row.value).toBeNull();
      expect(asked).toEqual([]);
      return;
    }
    asked[0].give();
    await eventually(() => expect(row.value?.[0]).not.toBeNaN());
    expectClose(
      row.value as Float32Array,
      RECORD.scores[layer].slice(COUNT * COUNT).slice(2 * COUNT, 3 * COUNT),
    );
  });
});

test("of a maximum, the head is named by the rows or columns that have come", async () => {
  const { made, asked } = remote(0);
  const heads = STACK.layers[0].heads;
  const matrices = Array.from({ length: heads }, (_, head) => headMatrix(made, head));
  const largest = combinedMatrix("Max", matrices, "max");
  const units = { tokens: Array.from({ length: COUNT }, (_, token) => [token]) };
  const ofWords = wordMatrix(largest, units, units, "largest");
  const origins = computed(() => [largest, ofWords].map((matrix) => matrix.origin?.(4, 2, "key")));
  watch(origins);
  expect(origins.value).toEqual(["", ""]);
  expect(asked.map(({ place }) => place)).toEqual(["key 2"]);
  asked[0].give();
  await eventually(() => expect(origins.value[0]).not.toBe(""));
  const weights = matrices.map((_, head) => part(0, head)[4 * COUNT + 2]);
  const head = weights.indexOf(Math.max(...weights.map(Number)));
  expect(origins.value).toEqual([`head ${head}`, `head ${head}`]);
});

test("nothing is asked for by who does not wait for it", () => {
  const { made, asked } = remote(0);
  expect(made.weightRow(0, 0)).toEqual(new Float32Array(COUNT).fill(Number.NaN));
  expect(asked).toEqual([]);
});

test("why a row does not come is said in its place", async () => {
  const { made, asked } = remote(0);
  const missing = computed(() => made.pending("key", 0));
  watch(missing);
  expect(missing.value).toBe("waiting for the kernel, which computes every row once …");
  asked[0].fail(new Error("The kernel is gone."));
  await eventually(() => expect(missing.value).toBe("The kernel is gone."));
  expect(made.weightColumn(0, 0)[0]).toBeNaN();
});

test("a row that is not of numbers is refused", async () => {
  const { parts, buffers } = answerOf(0, "query", 0);
  const damaged = buffers.map((bytes) => new Uint8Array(bytes.length).fill(255));
  const rows = async () => ({ parts, buffers: damaged });
  const layer = new RemoteLayer(
    STACK,
    STACK.layers[0],
    () => BLANK,
    rows,
    new ResourceCache(ROOMY),
  );
  const missing = computed(() => layer.pending("query", 0));
  watch(missing);
  await expect.poll(() => missing.value).toMatch(/^The (scores|weights) of this layer are damaged/);
});

test("layers share the room for rows, and never take one another's for their own", async () => {
  const row = 4 * COUNT * STACK.layers[0].heads;
  const cache = new ResourceCache(row);
  const layers = [0, 2].map((layer) => remote(layer, cache));
  const rows = layers.map(({ made }) => computed(() => made.weightRow(1, 4)));
  for (const [n, row] of rows.entries()) {
    const end = watch(row);
    layers[n].asked[0].give();
    await eventually(() => expect(row.value[0]).not.toBeNaN());
    expectClose(row.value, part(2 * n, 1).slice(4 * COUNT, 5 * COUNT));
    end();
  }
  expect(layers.map(({ made }) => Number.isNaN(made.weightRow(1, 4)[0]))).toEqual([true, false]);
});
