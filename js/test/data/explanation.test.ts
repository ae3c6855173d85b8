/** One query against every key, with and without some of its components. */

import { describe, expect, test } from "vitest";
import { decodeBlock } from "../../src/data/codec.ts";
import { explain, sees } from "../../src/data/explanation.ts";
import { LayerData } from "../../src/data/layer-data.ts";
import type { LayerInfo, Program } from "../../src/data/manifest.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { LABELS, scoreAt, weightAt } from "../support/numbers.ts";
import { blockOf, RECORD } from "../support/vectors.ts";

const [STACK] = readManifest(RECORD.manifest).stacks;

/** A layer of the record, with another program if need be. */
function layer(number: number, changes: Partial<Program> = {}): LayerData {
  const info = STACK.layers[number];
  const changed: LayerInfo = { ...info, program: info.program && { ...info.program, ...changes } };
  return new LayerData(STACK, changed, decodeBlock(blockOf(RECORD.blocks[`self.${number}`])));
}

const [head, query] = [3, 5];

test("scores and weights are the layer's, and q · k what is scaled to them", () => {
  const { original, shown, bias } = explain(layer(0), head, query, []);
  expect(shown).toBe(original);
  expect(bias).toBeNull();
  LABELS.forEach((_, key) => {
    const score = scoreAt(0, head, query, key) ?? Number.NaN;
    expect(original.scores?.[key]).toBeCloseTo(score, 5);
    expect(original.dots[key]).toBeCloseTo(2 * score, 5);
    expect(original.weights[key]).toBeCloseTo(weightAt(0, head, query, key), 5);
  });
});

test("a query does not see what is masked", () => {
  const explanation = explain(layer(2), head, query, []);
  expect(LABELS.map((_, key) => sees(explanation, key))).toEqual(
    LABELS.map((_, key) => key <= query),
  );
});

describe("a sink", () => {
  const sinks = [null, null, null, 1.5];

  test("takes what is left of the softmax", () => {
    const { original } = explain(layer(0, { sinks }), head, query, []);
    const powers = LABELS.map((_, key) => Math.exp(scoreAt(0, head, query, key) ?? Number.NaN));
    const total = powers.reduce((sum, power) => sum + power, Math.exp(1.5));
    expect(original.sink).toBeCloseTo(Math.exp(1.5) / total, 5);
    original.weights.forEach((weight, key) => {
      expect(weight).toBeCloseTo(powers[key] / total, 5);
    });
  });

  test("takes more where neurons that spoke for the keys are muted", () => {
    const { original, shown } = explain(
      layer(0, { sinks: [1, 1, 1, 8] }),
      head,
      query,
      [0, 1, 2, 3],
    );
    const alone = Math.exp(8) / (Math.exp(8) + LABELS.length);
    expect(shown.sink).toBeCloseTo(alone, 5);
    expect(shown.sink).not.toBeCloseTo(original.sink ?? 0, 3);
  });

  test("is none where the head's is switched off", () => {
    expect(explain(layer(0, { sinks }), 0, query, []).original.sink).toBeNull();
  });
});
