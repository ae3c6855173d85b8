/** The difference of two records, as a comparison shows it. */

import { expect, test } from "vitest";
import { DifferenceLayer, type RecordLayer } from "../../src/data/layer.ts";
import type { LayerData } from "../../src/data/layer-data.ts";
import type { ComparedStack, Manifest } from "../../src/data/manifest.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { compiled } from "../../src/kernels/compiled.ts";
import { lensRefusal } from "../../src/state/lens.ts";
import { compared } from "../support/compared.ts";
import { noise, noisyLayer } from "../support/layers.ts";
import { lensNamed, matrixBy } from "../support/lenses.ts";

const pairOf = ({ compared }: Manifest) => compared?.stacks.get("self") as ComparedStack;

test("the user's words for a head stand in both records and in their difference", () => {
  const words = (name: string) => [
    [name, ...Array(3).fill("mixed")],
    Array(2).fill("mixed"),
    Array(10).fill("mixed"),
  ];
  const said = (b: string) => {
    const sent = compared({ self: words("finds subjects"), "self of B": words(b) });
    const manifest = readManifest(sent.manifest);
    const { a, b: other, difference } = pairOf(manifest);
    return [a, other, difference].map(({ layers }) => manifest.patterns.words.get(layers[0])?.[0]);
  };
  expect(said("finds subjects")).toEqual(Array(3).fill("finds subjects"));
  expect(said("mixed")[2]).toBe("finds subjects in A, mixed in B");
});

test("the overview of a large difference is cropped to the texts shown", () => {
  const { difference } = pairOf(readManifest(compared().manifest));
  // Less in the rows of the first text, which has five of the nine tokens.
  const levels = Int8Array.from({ length: 81 }, (_, cell) => (cell < 45 ? -1 : 1) * (cell % 8));
  const side = {} as RecordLayer;
  const thumbnail = { rows: 9, columns: 9, levels, signed: true };
  const [info] = difference.layers;
  const layer = new DifferenceLayer(difference, info, [side, side], () => thumbnail);
  const cropped = layer.overview(0, "ba");
  expect([cropped?.rows, cropped?.columns]).toEqual([4, 5]);
  const expected = [5, 6, 7, 8].map((row) => ((row * 9) % 8) ** 2 / 49);
  expected.forEach((value, row) => {
    expect(cropped?.values[row * 5]).toBeCloseTo(value);
  });
  expect(layer.overview(0, "ab")?.values.every((value) => value <= 0)).toBe(true);
});

test("scores of a difference are subtracted, and masked where either is", async () => {
  await compiled();
  const [a, b] = [noisyLayer(6), noisyLayer(6)];
  // B is masked only for keys that come later, as A is, and at key 1 of query 3.
  const hidden = { info: b.info, scoreRounding: 0.25 } as unknown as LayerData;
  Object.assign(hidden, { whole: hidden });
  hidden.scoreRow = (head, i) => {
    const row = b.scoreRow(head, i)?.map((score, n) => score + noise(6, 7)[n]) ?? null;
    if (i === 3) row?.fill(Number.NEGATIVE_INFINITY, 1, 2);
    return row;
  };
  hidden.scoreColumn = (head, j) =>
    Float32Array.from({ length: 6 }, (_, i) => hidden.scoreRow(head, i)?.[j] ?? Number.NaN);
  const { difference } = pairOf(readManifest(compared().manifest));
  const layer = new DifferenceLayer(difference, a.info, [a, hidden], () => {
    throw new Error();
  });
  const matrix = matrixBy("scores", layer, 1);
  expect([matrix.name, matrix.difference]).toEqual(["Head 1, scores, B − A", true]);
  const masked = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < 6; i++) {
    const expected = [...noise(6, 7)].map((change, j) =>
      j > i || (i === 3 && j === 1) ? masked : change,
    );
    const columns = expected.map((_, j) => matrix.column(j)[i]);
    for (const found of [[...matrix.row(i)], columns]) {
      for (const [j, change] of expected.entries()) {
        if (change === masked) expect(found[j]).toBe(masked);
        else expect(found[j]).toBeCloseTo(change, 5);
      }
    }
  }
  expect(matrix.peak).toBeCloseTo(Math.max(...noise(6, 7).map(Math.abs)), 5);
  expect(matrix.largestRounding).toBe(a.scoreRounding + 0.25);
});

test("scores of a difference are refused where a record has weights alone", () => {
  const { difference } = pairOf(readManifest(compared().manifest));
  const scores = lensNamed("scores", { why_not: {} });
  expect(lensRefusal(difference, scores)).toBeNull();
  expect(lensRefusal(difference, lensNamed("attention"))).toBeNull();
  const [a, b] = difference.difference ?? [];
  const bare = b && { ...b, layers: b.layers.map((layer) => ({ ...layer, program: null })) };
  if (!a || !bare) throw new Error("no sides");
  expect(lensRefusal({ ...difference, difference: [a, bare] }, scores)).toBe("B: weights alone");
  expect(lensRefusal({ ...difference, difference: [bare, bare] }, scores)).toBe("weights alone");
});
