/** Layers and heads of a comparison that have other numbers in B are named by both. */

import { expect, test } from "vitest";
import type { LayerInfo } from "../../src/data/manifest.ts";
import {
  headAt,
  headLabel,
  headNumber,
  headPlace,
  headWords,
  layerNumber,
} from "../../src/data/pairing.ts";
import type { ViewName } from "../../src/state/choices.ts";
import { stateOf, storeOf } from "../support/choices.ts";
import { compared } from "../support/compared.ts";
import { eventually } from "../support/eventually.ts";
import { blockOf, RECORD } from "../support/vectors.ts";
import { mountView, textOf } from "../support/view.ts";

test.for([
  { partners: undefined, said: ["3", "1", "3-1"] },
  {
    partners: [
      [7, 0],
      [7, 1],
    ],
    said: ["A 3 ↔ B 7", "1", "A 3-1 ↔ B 7-1"],
  },
  {
    partners: [
      [3, 1],
      [3, 0],
    ],
    said: ["3", "A 1 ↔ B 0", "A 3-1 ↔ B 3-0"],
  },
  {
    partners: [
      [3, 0],
      [7, 1],
    ],
    said: ["3", "A 1 ↔ B 7-1", "A 3-1 ↔ B 7-1"],
  },
] as const)("$said", ({ partners, said }) => {
  const layer = { number: 3, partners } as unknown as LayerInfo;
  expect([layerNumber(layer), headNumber(layer, 1), headPlace({ layer, head: 1 })]).toEqual(said);
});

test("a layer's one map of all channels is called so, and not a head", () => {
  const whole = { number: 3, heads: 1, signed: "contributions" } as unknown as LayerInfo;
  const words = (layer: LayerInfo) => [headLabel, headWords, headAt].map((of) => of(layer, 0));
  expect(words(whole)).toEqual(["All channels", "all channels", "all channels of layer 3"]);
  expect(words({ ...whole, heads: 2 })).toEqual(["Head 0", "head 0", "head 3-0"]);
});

interface Sent {
  stacks: { layers: { partners?: number[][] }[] }[];
}

test.for([
  { view: "head", file: "attention-head-self-of-B-layer-A-0-B-7" },
  { view: "neuron", file: "attention-neuron-self-of-B-layer-A-0-B-7-head-0" },
  { view: "model", file: "attention-model-self-of-B" },
  { view: "map", file: "attention-map-self-of-B" },
] as const)("in the $view view of B", async ({ view: name, file }) => {
  // No head has a picture.
  const record = { ...compared(), overview: btoa("\0".repeat(2 ** 13)) };
  for (const { layers } of (record.manifest as Sent).stacks) {
    layers[0].partners = [0, 1, 2, 3].map((head) => [7, head]);
  }
  const source = { block: async () => blockOf(RECORD.blocks["self.0"]) };
  const choices = {
    view: name as ViewName,
    compared: "b",
    query: 2,
    heads: [0],
  } as const;
  const view = mountView(stateOf(choices, record), storeOf(record, source));
  await eventually(() => expect(textOf(view.status.value)).toContain("Layer A 0 ↔ B 7 · Head 0"));
  expect(view.figure()?.name).toBe(file);
  if (name === "head") {
    expect(view.element.querySelector(".title")?.textContent).toContain("Layer A 0 ↔ B 7 · Head 0");
  }
  const heads = view.tables.value.find(({ name }) => name === "Heads")?.rows() ?? [];
  if (heads.length) expect(heads[0].slice(0, 4)).toEqual(["layer", "head", "layer_b", "head_b"]);
  if (name === "model") {
    expect(heads[2].slice(0, 4)).toEqual([0, 1, 7, 1]);
    expect(view.element.textContent).toContain("A 0 ↔ B 7");
  }
});
