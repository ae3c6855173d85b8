import { expect, test } from "vitest";
import { decodeBlock } from "../../src/data/codec.ts";
import { LayerData } from "../../src/data/layer-data.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { matrixOf } from "../support/layers.ts";
import { lensNamed } from "../support/lenses.ts";
import { blockOf, expectClose, RECORD } from "../support/vectors.ts";

const [stack] = readManifest(RECORD.manifest).stacks;
const layer = (index: number) =>
  new LayerData(stack, stack.layers[index], decodeBlock(blockOf(RECORD.blocks[`self.${index}`])));

test("a layer of weights alone has weights, and no scores or vectors", () => {
  const given = layer(1);
  const weights = RECORD.weights[1];
  expectClose(matrixOf(given, 1), weights.slice(81));
  expectClose(given.weightRow(1, 4), weights.slice(81 + 36, 81 + 45));
  expectClose(
    given.weightColumn(1, 3),
    weights.slice(81).filter((_, n) => n % 9 === 3),
  );
  expect(given.scoreRow(0, 0)).toBeNull();
  expect(given.query(0, 0)).toBeNull();
  expect(given.key(0, 0)).toBeNull();
});

test("what a block as sent decodes to gives the record's own numbers", () => {
  for (const index of [0, 2]) {
    const { heads } = stack.layers[index];
    for (let head = 0; head < heads; head++) {
      const part = [head * 81, (head + 1) * 81] as const;
      expectClose(matrixOf(layer(index), head), RECORD.weights[index].slice(...part));
      const scores = Array.from({ length: 9 }, (_, i) => [
        ...(layer(index).scoreRow(head, i) ?? []),
      ]);
      expectClose(scores.flat(), RECORD.scores[index]?.slice(...part) ?? []);
    }
  }
});

test("shares by factors are weights times these, as shares of their row", () => {
  const values = lensNamed("values");
  for (const index of [0, 1, 2]) {
    const info = stack.layers[index];
    const norms = Float32Array.from({ length: info.heads * 9 }, (_, n) => (n * 7) % 5);
    const arrays = decodeBlock(blockOf(RECORD.blocks[`self.${index}`]));
    const weighted = new LayerData(
      stack,
      info,
      new Map([
        ...arrays,
        ["factors of other", { shape: [info.heads, 9], values: norms.map((norm) => norm + 1) }],
        ["factors of values", { shape: [info.heads, 9], values: norms }],
      ]),
    );
    const head = info.heads - 1;
    const shares = Array.from({ length: 9 }, (_, i) => {
      const row = [...layer(index).weightRow(head, i)].map((w, j) => w * norms[head * 9 + j]);
      const total = row.reduce((sum, value) => sum + value);
      return row.map((value) => (total > 0 ? value / total : 0));
    });
    expectClose(
      shares.flatMap((_, i) => [...weighted.shareRow(values, head, i)]),
      shares.flat(),
    );
    for (let j = 0; j < 9; j++) {
      expectClose(
        weighted.shareColumn(values, head, j),
        shares.map((row) => row[j]),
      );
    }
    // Reading shares leaves the weights as they are.
    expectClose(matrixOf(weighted, head), RECORD.weights[index].slice(head * 81, head * 81 + 81));
  }
});

test("an array that is missing is named", () => {
  const { parts, buffers } = blockOf(RECORD.blocks["self.0"]);
  const arrays = decodeBlock({ parts: parts.slice(0, 1), buffers: buffers.slice(0, 1) });
  expect(() => new LayerData(stack, stack.layers[0], arrays)).toThrow("This layer has no keys.");
});
