/** Views of a layer that is too large to be here as a whole show the numbers that are known and no others. */

import { expect, test } from "vitest";
import { readManifest } from "../../../src/data/read-manifest.ts";
import { LARGEST_BLOCK } from "../../../src/data/record-stack.ts";
import { type Source, Store } from "../../../src/data/store.ts";
import type { ViewName } from "../../../src/state/choices.ts";
import { stateOf } from "../../support/choices.ts";
import { eventually } from "../../support/eventually.ts";
import { painted } from "../../support/mounted.ts";
import { LABELS, NAMES, strongest, weightAt } from "../../support/numbers.ts";
import { bytes, RECORD } from "../../support/vectors.ts";
import { mountView, textOf } from "../../support/view.ts";

/** Weights of a layer without scores; its rows come when the test says so. */
function mounted(name: ViewName = "head") {
  const manifest = structuredClone(RECORD.manifest) as {
    stacks: { layers: { bytes: number }[] }[];
  };
  manifest.stacks[0].layers[1].bytes = LARGEST_BLOCK + 1;
  const asked: { place: string; give(): void; fail(): void }[] = [];
  const source: Source = {
    block: () => new Promise(() => {}),
    rows: () => (side, position) =>
      new Promise((resolve, reject) => {
        const weights = [0, 1].flatMap((head) =>
          LABELS.map((_, at) =>
            side === "query" ? weightAt(1, head, position, at) : weightAt(1, head, at, position),
          ),
        );
        const give = () =>
          resolve({
            parts: [{ name: "weights", dtype: "f32", shape: [2, LABELS.length] }],
            buffers: [new Uint8Array(Float32Array.from(weights).buffer)],
          });
        const fail = () => reject(new Error("The kernel is gone."));
        asked.push({ place: `${side} ${position}`, give, fail });
      }),
  };
  const state = stateOf({ layer: 1, view: name });
  const store = new Store(readManifest(manifest), bytes(RECORD.overview), source);
  const view = mountView(state, store);
  const [status, legend] = [() => textOf(view.status.value), () => textOf(view.legend.value)];
  return { state, view, asked, status, legend };
}

test("a row is waited for, and then told", async () => {
  const { state, view, asked, status, legend } = mounted();
  await eventually(() => expect(status()).toContain("Point at a token"));
  expect(legend()).toContain("drawn from the overview");
  expect(legend()).not.toMatch(/shown|NaN/);
  state.hover.value = { query: 5, key: null };
  expect(status()).toBe(`Layer 1  ${NAMES[5]} waiting for the kernel …`);
  expect(view.tables.value).toEqual([]);
  expect(asked.map(({ place }) => place)).toEqual(["query 5"]);
  asked[0].give();
  const expected = strongest([0, 1], (head, key) => weightAt(1, head, 5, key));
  await eventually(() => expect(status()).toContain(`Layer 1  ${NAMES[5]} → ${expected}`));
  expect(view.tables.value.map(({ name }) => name)).toEqual(["Row"]);
});

test("so are several together, and a pair", async () => {
  const { state, asked, status } = mounted();
  await eventually(() => expect(status()).toContain("Point at a token"));
  state.query.value = 2;
  state.also.value = [4];
  for (const { give } of asked.splice(0, 1)) give();
  await new Promise((resolve) => setTimeout(resolve));
  expect(status()).toContain("waiting for the kernel …");
  for (const { give } of asked) give();
  await eventually(() => expect(status()).toContain("(sums)"));
  state.hover.value = { query: 2, key: 0 };
  expect(status()).toContain(`weight ${weightAt(1, 0, 2, 0).toFixed(3)}`);
});

test("why a row does not come is said", async () => {
  const { state, asked, status } = mounted();
  await eventually(() => expect(status()).toContain("Point at a token"));
  state.hover.value = { query: null, key: 3 };
  asked[0].fail();
  await eventually(() => expect(status()).toContain("The kernel is gone."));
  expect(status()).not.toContain("NaN");
});

test("its pictures are drawn, and nothing is asked for them", async () => {
  const { view, asked } = mounted();
  await eventually(() => {
    const canvases = [...view.element.querySelectorAll("canvas")];
    const drawn = canvases.filter((canvas) => !canvas.matches(".overlay, .veil"));
    expect(drawn.length).toBe(2);
    for (const canvas of drawn) expect(painted(canvas)).toBeGreaterThan(0);
  });
  expect(asked).toEqual([]);
});

test("the neuron view says why it has nothing to show", async () => {
  const { view } = mounted("neuron");
  await eventually(() =>
    expect(view.element.textContent).toContain("too large to be here as a whole"),
  );
});
