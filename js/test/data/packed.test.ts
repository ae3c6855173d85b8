import { expect, test, vi } from "vitest";
import { decodeBlock, type Part, unpack } from "../../src/data/codec.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { type Source, Store } from "../../src/data/store.ts";
import { eventually } from "../support/eventually.ts";
import { blockOf, bytes, RECORD, ROUNDED } from "../support/vectors.ts";
import { watch } from "../support/watch.ts";
import { zlib } from "../support/zlib.ts";

const INCOMPLETE = "This layer is incomplete or damaged.";
const [, given] = ROUNDED;
const { parts, buffers } = blockOf(given);
const chunk = zlib(new Uint8Array(buffers.flatMap((buffer) => [...buffer])));
const error = { largest: 0.01, variation: 0.007, vectors: 0.1 };

test.for(ROUNDED)("a rounded block: $name", (rounded) => {
  const arrays = decodeBlock(blockOf(rounded));
  const decoded = Object.fromEntries([...arrays].map(([name, { values }]) => [name, [...values]]));
  expect(decoded).toEqual(rounded.decoded);
});

test("a chunk becomes its parts, with the error that they make", async () => {
  expect(await unpack({ parts, error, data: chunk })).toEqual({ parts, buffers, error });
  expect((await unpack({ parts, error: null, data: chunk })).error).toBeUndefined();
});

test("what does not say an error has none", async () => {
  const block = await unpack({ parts, error: null, data: chunk });
  expect([...decodeBlock(block).keys()]).toEqual(["queries", "keys"]);
});

test("a chunk that is cut short, changed or no chunk is refused", async () => {
  const changed = chunk.slice();
  changed[20] ^= 1;
  for (const damaged of [chunk.subarray(0, -1), chunk.subarray(0, 9), changed, new Uint8Array(9)]) {
    await expect(unpack({ parts, error: null, data: damaged })).rejects.toThrow(INCOMPLETE);
  }
});

test("more bytes than the parts say are not unpacked", async () => {
  const bomb = zlib(new Uint8Array(10_000_000));
  await expect(unpack({ parts, error: null, data: bomb })).rejects.toThrow(INCOMPLETE);
  const fewer = parts.slice(0, -1);
  await expect(unpack({ parts: fewer, error: null, data: chunk })).rejects.toThrow(INCOMPLETE);
});

test("a part of impossible size is refused before there is memory for it", () => {
  const part: Part = { name: "queries", dtype: "bits", shape: [2 ** 20, 2 ** 20, 64] };
  expect(() => decodeBlock({ parts: [part], buffers: [new Uint8Array(13)] })).toThrow(
    "The queries of this layer are too large to show.",
  );
});

test("a block without what it was rounded with says what is missing", () => {
  const without = (name: string) => {
    const kept = parts.map((part, at) => ({ part, data: buffers[at] }));
    const rest = kept.filter(({ part }) => part.name !== name);
    return { parts: rest.map(({ part }) => part), buffers: rest.map(({ data }) => data) };
  };
  expect(() => decodeBlock(without("keys"))).toThrow("This layer has no keys.");
  expect(() => decodeBlock(without("inner"))).toThrow("This layer has no weights.");
});

test("a chunk that does not fit its record is not even unpacked", async () => {
  const [stack] = readManifest(RECORD.manifest).stacks;
  const source: Source = {
    async block() {
      const { parts: sent } = blockOf(RECORD.blocks["self.0"]);
      const claimed = sent.map((part) => ({ ...part, shape: [2 ** 13, 2 ** 13, 2 ** 13] }));
      return { parts: claimed, error: null, data: zlib(new Uint8Array(10)) };
    },
  };
  const store = new Store(readManifest(RECORD.manifest), bytes(RECORD.overview), source);
  const state = store.stack(stack.name).layer(0);
  const stop = watch(state);
  await eventually(() => expect(state.value.status).toBe("failed"));
  expect(state.value).toEqual({
    status: "failed",
    message: "The queries of this layer do not have the shape that its record says.",
  });
  stop();
});

test("a browser that cannot unpack says so", async () => {
  vi.stubGlobal("DecompressionStream", undefined);
  try {
    await expect(unpack({ parts, error: null, data: chunk })).rejects.toThrow("cannot unpack");
  } finally {
    vi.unstubAllGlobals();
  }
});
