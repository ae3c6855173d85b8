/** The numbers of lenses, as Python sends them and computes them. */

import { expect, test } from "vitest";
import lenses from "../../../tests/vectors/lenses.json";
import type { Part } from "../../src/data/codec.ts";
import { DifferenceLayer } from "../../src/data/layer.ts";
import { LayerData } from "../../src/data/layer-data.ts";
import { ATTENTION, type LensInfo, type StackInfo } from "../../src/data/manifest.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { Store } from "../../src/data/store.ts";
import { isKnown, lensMatrix } from "../../src/lenses/index.ts";
import { positions } from "../support/layers.ts";
import { lensNamed } from "../support/lenses.ts";
import { blockOf, expectClose, withStacks } from "../support/vectors.ts";
import { watch } from "../support/watch.ts";

const [heads, queries, keys] = lenses.shape;
const layer = {
  number: 0,
  heads,
  key_heads: heads,
  dim: null,
  rotary: null,
  sums: null,
  bytes: 0,
  program: null,
  fidelity: { exact: null, module: "", tolerance: 1e-5, labels: null },
};
const sent = { name: "self", queries: positions(queries), keys: positions(keys), layers: [layer] };
const stack: StackInfo = { ...sent, sampled: null, text: null };
const weights = { shape: lenses.shape, values: Float32Array.from(lenses.weights) };
const of = (head: number, numbers: readonly number[]) =>
  numbers.slice(head * queries * keys, (head + 1) * queries * keys);
const rows = (row: (query: number) => Float32Array) =>
  Array.from({ length: queries }, (_, query) => [...row(query)]).flat();

test("weights times factors are shares of their row", () => {
  const lens = lensNamed("values", { name: "mine", symbols: ["gain", "weight × gain"] });
  const factors = { shape: [heads, keys], values: Float32Array.from(lenses.factors) };
  const arrays = new Map([
    ["weights", weights],
    ["factors of mine", factors],
  ]);
  const data = new LayerData(stack, layer, arrays);
  for (let head = 0; head < heads; head++) {
    const matrix = lensMatrix(lens, data, head);
    expectClose(
      rows((query) => matrix?.row(query) ?? new Float32Array()),
      of(head, lenses.shares),
    );
    const [weight, factor, product] = matrix?.beside?.(2, 1) ?? [];
    expect([weight.name, factor.name, product.name]).toEqual(["weight", "gain", "weight × gain"]);
    expect(product.value).toBeCloseTo(weight.value * factor.value, 6);
  }
});

test("matrices have the numbers of their steps, within half of one", async () => {
  const lens: LensInfo = { ...ATTENTION, name: "mine", label: "Mine", kind: "heads", signed: true };
  const { parts, ...block } = lenses.block;
  const store = new Store(readManifest(withStacks([sent])), null, {
    block: () => Promise.reject(new Error("not asked")),
    numbers: () => async () => blockOf({ ...block, parts: parts as Part[] }),
  });
  const loaded = store.stack("self").numbers(0, lens);
  watch(loaded);
  await expect.poll(() => loaded.value.status).toBe("ready");
  const numbers = loaded.value.status === "ready" ? loaded.value.data : [];
  const data = new LayerData(stack, layer, new Map([["weights", weights]]));
  for (let head = 0; head < heads; head++) {
    const matrix = lensMatrix(lens, data, head, { numbers });
    expectClose(
      rows((query) => matrix?.row(query) ?? new Float32Array()),
      of(head, lenses.numbers),
    );
    expect(matrix?.largestRounding).toBe([0.125, 2 ** -21][head]);
    expect(matrix?.name).toBe(`Head ${head}, mine`);
  }
  expect(lensMatrix(lens, data, 0)).toBeNull();
});

test("B − A of the matrices of layers is shaded to its own peak", () => {
  const lens: LensInfo = { ...ATTENTION, name: "mine", kind: "layers", signed: false };
  const side = (peak: number) =>
    new LayerData(stack, { ...layer, peaks: { mine: [peak] } }, new Map([["weights", weights]]));
  const numbers = [1, 4].map((size) => ({
    matrices: [new Float32Array(queries * keys).map((_, at) => size * at)],
    rounding: [0],
  }));
  const most = queries * keys - 1;
  const difference = new DifferenceLayer(stack, layer, [side(most), side(4 * most)], () => {
    throw new Error();
  });
  expect(lensMatrix(lens, difference, 0, { numbers })?.peak).toBe(3 * most);
});

test("a lens that a newer version computes is not offered", () => {
  expect(isKnown(lensNamed("scores"))).toBe(true);
  expect(isKnown(lensNamed("scores", { name: "newer" }))).toBe(false);
});
