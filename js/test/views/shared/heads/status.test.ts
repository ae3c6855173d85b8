/** What is said in place of numbers that are not there yet. */

import { computed, signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { headMatrix } from "../../../../src/data/attention-matrix.ts";
import { axesOf, lookOf } from "../../../../src/views/shared/axes.ts";
import { headStatus } from "../../../../src/views/shared/heads/status.ts";
import { stateOf } from "../../../support/choices.ts";
import { noisyLayer } from "../../../support/layers.ts";

test("a column that is being computed says so", () => {
  const [data, state] = [noisyLayer(6), stateOf({ key: 3 })];
  const axes = axesOf(state, data.stack);
  const pictured = computed(() => headMatrix(data, 0));
  const matrices = computed(() => [pictured.value]);
  const [look, strips] = [lookOf(state, axes), signal(null)];
  const said = headStatus({
    state,
    data,
    axes,
    where: "Layer 0",
    look,
    matrices,
    pictured,
    strips,
  });
  const text = said.map((part) => (typeof part === "string" ? part : part.text)).join("");
  expect(text).toBe("Layer 0  3 going once through every row …");
});
