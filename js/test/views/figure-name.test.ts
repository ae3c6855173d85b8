/** A figure is called by what it is of. */

import { signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { readManifest } from "../../src/data/read-manifest.ts";
import { Store } from "../../src/data/store.ts";
import type { Choices } from "../../src/state/choices.ts";
import { createState } from "../../src/state/state.ts";
import { palette } from "../../src/styles/palette.ts";
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
    height: signal(800),
    onPaper: signal(false),
  };
  const view = (state.view.value === "model" ? modelView : headView)(context);
  place(view.element);
  return { state, view, name: () => view.figure()?.name };
}

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
