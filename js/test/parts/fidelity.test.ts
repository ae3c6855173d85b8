import { describe, expect, test } from "vitest";
import type { LayerInfo, Manifest } from "../../src/data/manifest.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import {
  doubtAbout,
  halfPrecision,
  keptAsWeights,
  layerNames,
  remarks,
  replayed,
  weightsWithin,
} from "../../src/parts/fidelity.ts";
import { RECORD } from "../support/vectors.ts";

// Layer 1 of the record is kept as weights, and layer 2 is not confirmed.
const [{ layers }] = readManifest(RECORD.manifest).stacks;
const numbered = (...numbers: number[]) => numbers.map((number) => ({ ...layers[0], number }));

test("what holds for a layer", () => {
  expect(layers.map(remarks)).toEqual([
    [],
    ["kept as weights"],
    ["not confirmed against the model"],
  ]);
});

test("stack and labels that were not read from the model", () => {
  const [layer] = layers;
  const said = (labels: "checked" | "assumed" | null) =>
    remarks({ ...layer, fidelity: { ...layer.fidelity, labels } });
  expect(said("assumed")).toEqual(["stack and labels assumed from names and lengths"]);
  expect([...said("checked"), ...said(null)]).toEqual([]);
});

test("weights that were given beside queries and keys that do not make them", () => {
  const fidelity = { ...layers[1].fidelity, exact: false, module: "" };
  expect(remarks({ ...layers[1], fidelity })).toEqual([
    "queries and keys give other weights",
    "kept as weights",
  ]);
});

test("weights whose rows are not those of a softmax", () => {
  const alone: LayerInfo = { ...layers[1], sums: [0.304, 1] };
  expect(remarks(alone)).toEqual(["rows do not sum to 1", "kept as weights"]);
  const said = doubtAbout([alone, { ...alone, number: 2 }], "rows do not sum to 1");
  expect(said).toBe("⚠ Layers 1–2: rows do not sum to 1, but to between 0.30 and 1.00");
});

test.for([
  { numbers: [3], name: "layer 3" },
  { numbers: [3, 4], name: "layers 3–4" },
  { numbers: [0, 1, 2, 5, 7, 8], name: "layers 0–2, 5, 7–8" },
])("$numbers are called $name", ({ numbers, name }) => {
  expect(layerNames(numbered(...numbers))).toBe(name);
});

describe("what was kept as weights", () => {
  test("is named where it is not all", () => {
    expect(keptAsWeights(layers)).toBe("layer 1 kept as weights");
  });

  test("is said of all, and of nothing", () => {
    expect(keptAsWeights([layers[1]])).toBe("kept as weights");
    expect(keptAsWeights([layers[0], layers[2]])).toBe("");
  });
});

test("half precision is said of models that compute in it", () => {
  const [layer] = layers;
  expect(halfPrecision(layer)).toBe("");
  const half = { ...layer, fidelity: { ...layer.fidelity, tolerance: 0.03 } };
  expect(halfPrecision(half)).toBe("model computed in half precision");
});

test.for([
  { error: 0, rows: null, text: "weights as recorded" },
  { error: 0.00041, rows: null, text: "weights within ±0.0005" },
  { error: 0.00041, rows: 16, text: "weights within ±0.0005 in 16 sampled rows" },
  { error: 0, rows: 16, text: "weights as recorded in 16 sampled rows" },
])("an error of $error in $rows rows", ({ error, rows, text }) => {
  expect(weightsWithin(error, rows)).toBe(text);
});

test("a generated text is said to be read once more, and how far that lies from its generation", () => {
  const said = (difference: number, reason = "") =>
    replayed({ replay: { difference, reason } } as Manifest);
  expect(replayed({ replay: null } as Manifest)).toBe("");
  expect(said(0)).toBe("recorded as it was generated");
  expect(said(1e-9)).toBe("read once more: logits as generated");
  expect(said(2.1e-6)).toBe("read once more: logits within 0.0003% of the generation’s");
  expect(said(0.011, "it rounds")).toBe(
    "read once more: logits within 2% of the generation’s (it rounds)",
  );
});
