/** A figure is called by what it is of. */

import { expect, test } from "vitest";
import type { Choices } from "../../src/state/choices.ts";
import { stateOf, storeOf } from "../support/choices.ts";
import { slowSource, sourceOf } from "../support/mounted.ts";
import { OVERVIEW, RECORD, type SentRecord } from "../support/vectors.ts";
import { mountView } from "../support/view.ts";

function mounted(choices: Partial<Choices>, source = sourceOf(), record: SentRecord = RECORD) {
  const state = stateOf(choices, record);
  const view = mountView(state, storeOf(record, source));
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
