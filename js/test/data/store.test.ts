import { effect } from "@preact/signals-core";
import { describe, expect, test } from "vitest";
import type { Block } from "../../src/data/codec.ts";
import { LayerData } from "../../src/data/layer-data.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import type { Loaded } from "../../src/data/resource-cache.ts";
import { type Source, Store } from "../../src/data/store.ts";
import { lensMatrix } from "../../src/lenses/index.ts";
import { eventually } from "../support/eventually.ts";
import { matrixOf } from "../support/layers.ts";
import { lensNamed } from "../support/lenses.ts";
import { scoresOf } from "../support/numbers.ts";
import {
  blockOf,
  bytes,
  expectClose,
  OVERVIEW,
  RECORD,
  type SentStack,
  withStacks,
} from "../support/vectors.ts";
import { watch } from "../support/watch.ts";

/** A source whose answers the test gives. */
function asked() {
  const requests: { key: string; give(block: Block): void; fail(reason: unknown): void }[] = [];
  const source: Source = {
    block: (stack, layer) =>
      new Promise((give, fail) => requests.push({ key: `${stack}.${layer}`, give, fail })),
    combined: (stack) =>
      new Promise((give, fail) => requests.push({ key: `${stack}.combined`, give, fail })),
  };
  const store = new Store(readManifest(RECORD.manifest), bytes(RECORD.overview), source);
  return { store, requests };
}

const block = (layer: number) => blockOf(RECORD.blocks[`self.${layer}`]);
const settled = (state: { value: Loaded<unknown> }) =>
  eventually(() => expect(state.value.status).not.toBe("loading"));

test("a layer is loading, then ready, and who watches hears of it", async () => {
  const { store, requests } = asked();
  const layer = store.stack("self").layer(0);
  const seen: string[] = [];
  effect(() => {
    seen.push(layer.value.status);
  });
  requests[0].give(block(0));
  await settled(layer);
  expect(seen).toEqual(["loading", "ready"]);
  const state = layer.value;
  const data = state.status === "ready" ? state.data : null;
  expect(data).toBeInstanceOf(LayerData);
  expectClose(matrixOf(data as LayerData, 3), RECORD.weights[0].slice(3 * 81));
});

test("a layer is asked for once, however often it is wanted", async () => {
  const { store, requests } = asked();
  const first = store.stack("self").layer(1);
  expect(store.stack("self").layer(1)).toBe(first);
  for (let times = 0; times < 2; times++) watch(first);
  requests[0].give(block(1));
  await settled(first);
  expect(store.stack("self").layer(1)).toBe(first);
  expect(requests.filter(({ key }) => key === "self.1").length).toBe(1);
});

test("nothing is asked for before a layer is wanted, and layers do not wait for each other", async () => {
  const { store, requests } = asked();
  expect(requests).toEqual([]);
  const layers = [store.stack("self").layer(2), store.stack("self").layer(0)];
  expect(requests).toEqual([]);
  layers.forEach(watch);
  requests[1].give(block(0));
  await settled(layers[1]);
  expect(layers.map(({ value }) => value.status)).toEqual(["loading", "ready"]);
});

test.for([
  { reason: new Error("The kernel is gone."), message: "The kernel is gone." },
  { reason: "just text", message: "just text" },
])("a failure keeps the source's message: $message", async ({ reason, message }) => {
  const { store, requests } = asked();
  const layer = store.stack("self").layer(0);
  watch(layer);
  requests[0].fail(reason);
  await settled(layer);
  expect(layer.value).toEqual({ status: "failed", message });
});

test("thumbnails of scores have the largest magnitude of each cell, and none of weights alone", async () => {
  const { store, requests } = asked();
  const lens = lensNamed("scores");
  const thumbnails = store
    .stack("self")
    .computedThumbnails(lens, (layer, head) => lensMatrix(lens, layer, head));
  watch(thumbnails);
  for (const layer of [0, 1, 2]) {
    await eventually(() => expect(requests.at(-1)?.key).toBe(`self.${layer}`));
    requests.at(-1)?.give(block(layer));
  }
  await settled(thumbnails);
  const { value } = thumbnails;
  if (value.status !== "ready") throw new Error("not ready");
  expect(value.data.get(1)).toBeNull();
  for (const layer of [0, 2]) {
    const scores = scoresOf(layer, 0);
    const seen = scores.map((score) => (score === Number.NEGATIVE_INFINITY ? 0 : score));
    const peak = Math.max(...seen.map(Math.abs));
    const [first] = value.data.get(layer) ?? [];
    // A cell per token, in so short a text.
    expect([...first.levels]).toEqual(
      seen.map((score) => {
        const level = Math.round(15 * Math.sqrt(Math.abs(score) / peak));
        return score < 0 && level ? -level : level;
      }),
    );
  }
});

test("a block that does not fit its layer fails with a reason", async () => {
  const { store, requests } = asked();
  const layer = store.stack("self").layer(0);
  watch(layer);
  requests[0].give({ ...block(0), buffers: [] });
  await settled(layer);
  expect(layer.value).toEqual({
    status: "failed",
    message: "The queries of this layer are incomplete.",
  });
});

test("a retry asks again for what failed, and only for that", async () => {
  const { store, requests } = asked();
  const layers = [0, 1, 2].map((layer) => store.stack("self").layer(layer));
  layers.forEach(watch);
  requests[0].give(block(0));
  requests[1].fail(new Error("no"));
  await settled(layers[0]);
  await settled(layers[1]);
  store.retry();
  expect(requests.map(({ key }) => key)).toEqual(["self.0", "self.1", "self.2", "self.1"]);
  requests[3].give(block(1));
  await eventually(() => expect(layers[1].value.status).toBe("ready"));
  // The same signal as before, so that views that watch it recover by themselves.
  expect(store.stack("self").layer(1)).toBe(layers[1]);
});

test("a retry names the stack rightly where names hold dots", async () => {
  const [stack] = (RECORD.manifest as { stacks: SentStack[] }).stacks;
  const manifest = withStacks([{ ...stack, name: "vision.1" }]);
  const keys: string[] = [];
  const source: Source = {
    async block(stack, layer) {
      keys.push(`${stack} ${layer}`);
      throw new Error("no");
    },
  };
  const store = new Store(readManifest(manifest), bytes(RECORD.overview), source);
  const layer = store.stack("vision.1").layer(2);
  watch(layer);
  await settled(layer);
  store.retry();
  expect(keys.filter((key) => key === "vision.1 2").length).toBe(2);
});

test("layers are asked for by their number, and come with what the record says of it", async () => {
  const keys: string[] = [];
  const source: Source = {
    async block(stack, layer) {
      keys.push(`${stack} ${layer}`);
      return blockOf(OVERVIEW.blocks[`${stack}.${layer}`]);
    },
  };
  const store = new Store(readManifest(OVERVIEW.manifest), bytes(OVERVIEW.overview), source);
  const layer = store.stack("cross").layer(7);
  watch(layer);
  await settled(layer);
  expect(keys[0]).toBe("cross 7");
  const state = layer.value;
  expect(state.status === "ready" && [state.data.info.number, state.data.info.heads]).toEqual([
    7, 2,
  ]);
});

test("stacks and thumbnails are found by name and number", () => {
  const source: Source = { block: () => Promise.reject() };
  const store = new Store(readManifest(OVERVIEW.manifest), bytes(OVERVIEW.overview), source);
  expect(store.stack("cross").info.queries.labels).toEqual(["eins", "zwei", "drei"]);
  const { rows, columns, levels } = store.stack("cross").thumbnail(7, 1);
  expect([rows, columns]).toEqual([3, 5]);
  expect(Array.from(levels, (n) => n.toString(16)).join("")).toBe(OVERVIEW.levels[1][1][1]);
  expect(() => store.stack("decoder")).toThrow("This record has no stack named decoder.");
});

/** The numbers of every head of every layer, by query and key. */
const everyHead = Array.from({ length: 81 }, (_, at) =>
  RECORD.weights.flatMap((layer) => layer.filter((_weight, n) => n % 81 === at).map(Number)),
);

describe("the combination of all layers", () => {
  const combinedBlock = () => blockOf(RECORD.blocks["self.combined"]);

  test("is asked for once, and is of every head of every layer", async () => {
    const { store, requests } = asked();
    const combined = store.stack("self").combined();
    expect(store.stack("self").combined()).toBe(combined);
    watch(combined);
    requests[0].give(combinedBlock());
    await settled(combined);
    expect(requests.map(({ key }) => key)).toEqual(["self.combined"]);
    const { value } = combined;
    if (value.status !== "ready") throw new Error(value.status);
    everyHead.forEach((weights, at) => {
      const mean = weights.reduce((sum, weight) => sum + weight, 0) / weights.length;
      // Rounded to float16.
      expect(Math.abs(value.data.mean[at] - mean)).toBeLessThan(2 ** -12);
      expect(Math.abs(value.data.max[at] - Math.max(...weights))).toBeLessThan(2 ** -12);
    });
  });

  test("is not taken for a layer of a stack whose name has the other's in it", () => {
    const [stack] = (RECORD.manifest as { stacks: SentStack[] }).stacks;
    const manifest = withStacks([stack, { ...stack, name: "self.0" }]);
    const source: Source = { block: () => new Promise(() => {}) };
    const store = new Store(readManifest(manifest), null, source);
    expect(store.stack("self.0").combined()).not.toBe(store.stack("self").layer(0));
  });

  test("may fail, and is then asked for again like a layer", async () => {
    const { store, requests } = asked();
    const combined = store.stack("self").combined();
    watch(combined);
    requests[0].fail(new Error("no"));
    await settled(combined);
    expect(combined.value).toEqual({ status: "failed", message: "no" });
    store.retry();
    requests[1].give(combinedBlock());
    await eventually(() => expect(combined.value.status).toBe("ready"));
  });

  test("fails where a part of it did not come", async () => {
    const { store, requests } = asked();
    const combined = store.stack("self").combined();
    watch(combined);
    const { parts, buffers } = combinedBlock();
    requests[0].give({ parts: parts.slice(0, 1), buffers: buffers.slice(0, 1) });
    await settled(combined);
    expect(combined.value.status).toBe("failed");
  });

  test("is computed from every layer where the source does not know it", async () => {
    const asked: string[] = [];
    const source: Source = {
      block: async (stack, layer) => {
        asked.push(`${stack}.${layer}`);
        const error = { largest: layer === 1 ? 0.02 : 0.01, variation: 0.001 };
        return { ...block(layer), error };
      },
    };
    const store = new Store(readManifest(RECORD.manifest), bytes(RECORD.overview), source);
    const combined = store.stack("self").combined();
    watch(combined);
    await settled(combined);
    expect(asked).toEqual(["self.0", "self.1", "self.2"]);
    const { value } = combined;
    if (value.status !== "ready") throw new Error(value.status);
    expect(value.data.rounding).toBeCloseTo(0.02);
    const means = everyHead.map((all) => all.reduce((sum, weight) => sum + weight, 0) / all.length);
    expectClose(value.data.mean, means);
    expectClose(
      value.data.max,
      everyHead.map((all) => Math.max(...all)),
    );
  });

  test("fails as the layer does that it lacks", async () => {
    const source: Source = {
      block: async (_, layer) => {
        if (layer === 2) throw new Error("Layer 2 is not in this page.");
        return block(layer);
      },
    };
    const store = new Store(readManifest(RECORD.manifest), bytes(RECORD.overview), source);
    const combined = store.stack("self").combined();
    watch(combined);
    await settled(combined);
    expect(combined.value).toEqual({ status: "failed", message: "Layer 2 is not in this page." });
  });
});
