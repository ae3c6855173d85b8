/** What is saved is what is drawn, called by what it is of; what cannot be drawn says why. */

import { signal } from "@preact/signals-core";
import { expect, test, vi } from "vitest";
import { readManifest } from "../../src/data/read-manifest.ts";
import { LARGEST_BLOCK, Store } from "../../src/data/store.ts";
import type { Choices } from "../../src/state/choices.ts";
import { createState } from "../../src/state/state.ts";
import { palette } from "../../src/styles/theme.ts";
import { headView } from "../../src/views/head/head.ts";
import { modelView } from "../../src/views/model/model.ts";
import { slowSource, sourceOf } from "../support/mounted.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";
import { bytes, OVERVIEW, RECORD, type SentRecord } from "../support/vectors.ts";

function mounted(choices: Partial<Choices>, source = sourceOf(), record: SentRecord = RECORD) {
  const manifest = readManifest(record.manifest);
  const state = createState(manifest, choices);
  const store = new Store(manifest, bytes(record.overview), source);
  const context = {
    scope: testScope(),
    state,
    store,
    palette: signal(palette(false)),
    width: signal(1100),
  };
  const view = (state.view.value === "model" ? modelView : headView)(context);
  place(view.element);
  return { state, view, name: () => view.figure()?.name };
}

/** Layer 0 is larger than a kernel sends. */
function large(): SentRecord {
  const manifest = structuredClone(RECORD.manifest) as {
    stacks: { layers: { bytes: number }[] }[];
  };
  manifest.stacks[0].layers[0].bytes = LARGEST_BLOCK + 1;
  return { ...RECORD, manifest };
}

const rows = { ...sourceOf(), rows: () => () => new Promise<never>(() => {}) };

test("a figure is called by the layer that is drawn, not by the one on its way", async () => {
  const { source, arrive } = slowSource();
  const { state, name } = mounted({}, source);
  expect(name()).toBeUndefined();
  await arrive("self.0");
  await expect.poll(name).toBe("attention-head-layer-0");
  state.layer.value = 1;
  expect(name()).toBe("attention-head-layer-0");
  await arrive("self.1");
  await expect.poll(name).toBe("attention-head-layer-1");
});

test("where all layers are one, none is named", async () => {
  const { name } = mounted({ combine: "layers_mean", layer: 1 });
  await expect.poll(name).toBe("attention-head-layers-mean");
});

test("of several stacks, each is named", async () => {
  const { state, name } = mounted({ view: "model" }, sourceOf(OVERVIEW), OVERVIEW);
  expect(name()).toBe("attention-model-encoder");
  state.stack.value = "cross";
  expect(name()).toBe("attention-model-cross");
});

test("a layer that is not here as a whole is not drawn, but all layers as one are", async () => {
  const { state, view, name } = mounted({}, rows, large());
  const figure = vi.fn(() => view.figure());
  await vi.waitFor(() => expect(figure).toThrow("not all of this layer is here"));
  state.combine.value = "layers_max";
  await expect.poll(name).toBe("attention-head-layers-max");
});

test("an opened head is never left out of the figure of all heads", async () => {
  const { source, arrive } = slowSource();
  const { state, view, name } = mounted({ view: "model", opened: true }, source);
  expect(() => view.figure()).toThrow("the head that is opened is not here");
  state.opened.value = false;
  const without = view.figure()?.scene.shapes.length;
  state.opened.value = true;
  await arrive("self.0");
  await expect.poll(name).toBe("attention-model");
  expect(view.figure()?.scene.shapes.length).toBeGreaterThan(without ?? 0);
  const remote = mounted({ view: "model", opened: true }, rows, large());
  await vi.waitFor(() => {
    expect(() => remote.view.figure()).toThrow("not all of this layer is here");
  });
});
