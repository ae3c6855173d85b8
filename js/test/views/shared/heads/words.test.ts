/** The status line while numbers are still missing. */

import { computed } from "@preact/signals-core";
import { expect, test } from "vitest";
import { axesOf } from "../../../../src/views/shared/axes.ts";
import { headContent } from "../../../../src/views/shared/heads/words.ts";
import { stateOf } from "../../../support/choices.ts";
import { noisyLayer } from "../../../support/layers.ts";
import { headMatrix } from "../../../support/lenses.ts";
import { textOf } from "../../../support/view.ts";

test("a column that is being computed says so", () => {
  const [data, state] = [noisyLayer(6), stateOf({ key: 3 })];
  const axes = axesOf(state, data.stack);
  const matrix = computed(() => ({ ...headMatrix(data, 0), hasColumns: () => false }));
  const matrices = computed(() => [matrix.value]);
  const shown = { data, axes, layerLabel: "Layer 0", matrices, matrix };
  const phrase = headContent(state, shown).status.value;
  expect(textOf(phrase)).toBe("Layer 0  3 computing every row once …");
});
