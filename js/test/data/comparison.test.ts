/** The difference of two records, as a comparison shows it. */

import { expect, test } from "vitest";
import { DifferenceLayer } from "../../src/data/difference-layer.ts";
import type { Layer } from "../../src/data/layer.ts";
import type { ComparedStack, Manifest } from "../../src/data/manifest.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { compared } from "../support/compared.ts";

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
  const levels = Uint8Array.from({ length: 81 }, (_, cell) => cell % 8);
  const less = Uint8Array.from({ length: 81 }, (_, cell) => Number(cell < 45));
  const side = {} as Layer;
  const thumbnails = [{ rows: 9, columns: 9, levels, less }];
  const layer = new DifferenceLayer(difference, difference.layers[0], [side, side], thumbnails);
  const cropped = layer.overview(0, "ba");
  expect([cropped?.rows, cropped?.columns]).toEqual([4, 5]);
  const expected = [5, 6, 7, 8].map((row) => ((row * 9) % 8) ** 2 / 49);
  expected.forEach((value, row) => {
    expect(cropped?.values[row * 5]).toBeCloseTo(value);
  });
  expect(layer.overview(0, "ab")?.values.every((value) => value <= 0)).toBe(true);
});
