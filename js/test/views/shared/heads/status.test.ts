/** The status line while numbers are still missing. */

import { computed, signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { headMatrix } from "../../../../src/data/attention-matrix.ts";
import { NO_ARCS } from "../../../../src/views/shared/arcs.ts";
import { axesOf, focusedUnits } from "../../../../src/views/shared/axes.ts";
import { headStatus } from "../../../../src/views/shared/heads/status.ts";
import { stateOf } from "../../../support/choices.ts";
import { noisyLayer } from "../../../support/layers.ts";

test("a column that is being computed says so", () => {
  const [data, state] = [noisyLayer(6), stateOf({ key: 3 })];
  const axes = axesOf(state, data.stack);
  const matrix = computed(() => headMatrix(data, 0));
  const matrices = computed(() => [matrix.value]);
  const [focused, strips] = [focusedUnits(state, axes), signal(null)];
  const phrase = headStatus({
    state,
    data,
    axes,
    layerLabel: "Layer 0",
    focused,
    matrices,
    matrix,
    arcs: NO_ARCS,
    strips,
  });
  const text = phrase.map((part) => (typeof part === "string" ? part : part.text)).join("");
  expect(text).toBe("Layer 0  3 computing every row once …");
});
