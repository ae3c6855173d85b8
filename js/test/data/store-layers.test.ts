import { describe, expect, test } from "vitest";
import { LayerData } from "../../src/data/layer-data.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { LARGEST_BLOCK } from "../../src/data/record-stack.ts";
import { RemoteLayer } from "../../src/data/remote-layer.ts";
import type { Loaded } from "../../src/data/resource-cache.ts";
import { BUDGET, type Source, Store } from "../../src/data/store.ts";
import { eventually } from "../support/eventually.ts";
import { blockOf, bytes, RECORD, type SentStack, withStacks } from "../support/vectors.ts";
import { watch } from "../support/watch.ts";

const block = (layer: number) => blockOf(RECORD.blocks[`self.${layer}`]);
const settled = (state: { value: Loaded<unknown> }) =>
  eventually(() => expect(state.value.status).not.toBe("loading"));

describe("when there is nothing to do", () => {
  /** The record with more layers, of as many bytes each. */
  function stackOf(count: number, bytes: number) {
    const [stack] = (RECORD.manifest as { stacks: SentStack[] }).stacks;
    const layers = Array.from({ length: count }, (_, number) => {
      return { ...stack.layers[0], number, bytes };
    });
    const manifest = withStacks([{ ...stack, layers }]);
    const keys: string[] = [];
    const waiting: (() => void)[] = [];
    const source: Source = {
      block: (stack, layer) =>
        new Promise((resolve) => {
          keys.push(`${stack}.${layer}`);
          waiting.push(() => resolve(block(0)));
        }),
    };
    const overview = new Uint8Array(count * 1000);
    return { store: new Store(readManifest(manifest), overview, source), keys, waiting };
  }

  const idle = () => new Promise<unknown>((resolve) => requestIdleCallback(resolve));

  test("the next and the previous layer are fetched, one after the other", async () => {
    const { store, keys, waiting } = stackOf(6, 1000);
    watch(store.stack("self").layer(3));
    await idle();
    expect(keys).toEqual(["self.3"]);
    waiting[0]();
    await eventually(() => expect(keys).toEqual(["self.3", "self.4"]));
    await idle();
    expect(keys.length).toBe(2);
    waiting[1]();
    await eventually(() => expect(keys).toEqual(["self.3", "self.4", "self.2"]));
    waiting[2]();
    await idle();
    await idle();
    expect(keys.length).toBe(3);
  });

  test("a layer that is there already has its neighbours fetched too", async () => {
    const { store, keys, waiting } = stackOf(6, 1000);
    const end = watch(store.stack("self").layer(0));
    waiting[0]();
    await eventually(() => expect(keys).toEqual(["self.0", "self.1"]));
    waiting[1]();
    await idle();
    end();
    watch(store.stack("self").layer(1));
    await eventually(() => expect(keys).toEqual(["self.0", "self.1", "self.2"]));
  });

  test("none is fetched while one that is wanted has not come", async () => {
    const { store, keys, waiting } = stackOf(6, 1000);
    watch(store.stack("self").layer(0));
    watch(store.stack("self").layer(4));
    waiting[1]();
    await idle();
    await idle();
    expect(keys).toEqual(["self.0", "self.4"]);
    waiting[0]();
    await eventually(() => expect(keys[2]).toBe("self.5"));
  });

  test.for([
    { bytes: BUDGET / 2, neighbours: [] },
    // Twice as large, decoded: the one fits, and the other does not.
    { bytes: BUDGET / 4, neighbours: ["self.4"] },
    { bytes: LARGEST_BLOCK + 1, neighbours: [] },
  ])(
    "layers of $bytes bytes are fetched as far as there is room",
    async ({ bytes, neighbours }) => {
      const { store, keys, waiting } = stackOf(6, bytes);
      watch(store.stack("self").layer(3));
      waiting[0]();
      await idle();
      await idle();
      waiting[1]?.();
      await idle();
      await idle();
      expect(keys).toEqual(["self.3", ...neighbours]);
    },
  );
});

describe("a layer that is too large to be here as a whole", () => {
  function large(rows: Source["rows"]) {
    const manifest = structuredClone(RECORD.manifest) as {
      stacks: { layers: { bytes: number }[] }[];
    };
    manifest.stacks[0].layers[0].bytes = LARGEST_BLOCK + 1;
    const keys: string[] = [];
    const source: Source = {
      async block(stack, layer) {
        keys.push(`${stack}.${layer}`);
        return block(layer as number);
      },
      ...(rows ? { rows } : {}),
    };
    return { store: new Store(readManifest(manifest), bytes(RECORD.overview), source), keys };
  }

  test("is there without its block, which is not asked for", async () => {
    const { store, keys } = large(() => () => new Promise(() => {}));
    const layer = store.stack("self").layer(0);
    watch(layer);
    await settled(layer);
    expect(layer.value.status === "ready" && layer.value.data).toBeInstanceOf(RemoteLayer);
    expect(keys).not.toContain("self.0");
  });

  test.for([{ rows: undefined }, { rows: () => null }])(
    "comes whole where its rows cannot be had",
    async ({ rows }) => {
      const { store, keys } = large(rows);
      const layer = store.stack("self").layer(0);
      watch(layer);
      await settled(layer);
      expect(layer.value.status === "ready" && layer.value.data).toBeInstanceOf(LayerData);
      expect(keys[0]).toBe("self.0");
    },
  );
});
