import { describe, expect, test } from "vitest";
import { layerOf } from "../../src/data/manifest.ts";
import {
  readArcs,
  readManifest,
  readMetrics,
  readSimilarity,
  VERSION,
} from "../../src/data/read-manifest.ts";
import { OVERVIEW } from "../support/vectors.ts";

interface Sent {
  version: number;
  stacks: { queries: unknown; keys: unknown }[];
}

const sent = () => structuredClone(OVERVIEW.manifest) as Sent;

test("keys that were not sent are the queries' own", () => {
  const { stacks } = readManifest(sent());
  expect(stacks[0].keys).toEqual(stacks[0].queries);
  expect(stacks[1].keys.labels).toEqual(["one", "two", "three", "four", "five"]);
  expect(stacks[1].queries.labels).toEqual(["eins", "zwei", "drei"]);
});

test("layers, heads and the model's name come through", () => {
  const manifest = readManifest(sent());
  expect(manifest.model).toBe("two stacks");
  expect(manifest.stacks.map(({ name }) => name)).toEqual(["encoder", "cross"]);
  expect(manifest.stacks.map(({ layers }) => layers.map(({ heads }) => heads))).toEqual([
    [2, 3],
    [1, 2],
  ]);
});

test("layers keep the numbers of the model, and what is missing comes through", () => {
  const { stacks, missing } = readManifest(sent());
  expect(stacks.map(({ layers }) => layers.map(({ number }) => number))).toEqual([
    [0, 1],
    [3, 7],
  ]);
  expect(missing).toEqual(["decoder.5: it calls no attention function"]);
});

test.for([
  { number: 3, found: 3 },
  { number: 7, found: 7 },
  { number: 6, found: 3 },
  { number: 99, found: 7 },
  { number: 0, found: 3 },
  { number: -1, found: 3 },
])("layer $number of layers 3 and 7 is $found", ({ number, found }) => {
  const [, cross] = readManifest(sent()).stacks;
  expect(layerOf(cross, number).number).toBe(found);
});

test.for([VERSION - 1, VERSION + 1])("format %i is refused, whatever else is sent", (version) => {
  const first =
    version > VERSION ? "In a clone, run make demo; else, install it again. Then r" : "R";
  expect(() => readManifest({ version, stacks: {} })).toThrow(
    `This record has format ${version}, and this view reads format ${VERSION}: another version of ` +
      `attnwidget wrote it. ${first}estart the kernel, and show the record again with Python.`,
  );
});

test.for([undefined, null, "", "text", 7, [], {}, { version: "2", stacks: [] }])(
  "what is not a record is said not to be one: %o",
  (garbage) => {
    expect(() => readManifest(garbage)).toThrow("This is not an attnwidget record.");
  },
);

interface Whole {
  metrics: { digits: unknown; values: Record<string, unknown[][]> }[];
  patterns: { kinds: unknown[]; values: Record<string, unknown[][]> };
  stacks: {
    name: string;
    sampled?: unknown;
    queries: { labels: string[]; special: unknown; segments: unknown; words: unknown };
    layers: {
      number: unknown;
      heads: unknown;
      key_heads: unknown;
      dim: unknown;
      program: object;
    }[];
  }[];
}

/** The record with something else in its first stack, or in its first layer. */
function changed(change: (stack: Whole["stacks"][0], manifest: Whole) => void): unknown {
  const manifest = structuredClone(OVERVIEW.manifest) as Whole;
  change(manifest.stacks[0], manifest);
  return manifest;
}

test("what is not said of samples is that there are none", () => {
  const manifest = readManifest(changed((stack) => delete stack.sampled));
  expect(manifest.stacks[0].sampled).toBeNull();
});

test.for<[string, (stack: Whole["stacks"][0], manifest: Whole) => void]>([
  [".stacks", (_, manifest) => manifest.stacks.splice(0)],
  [".stacks", ({ name }, { stacks }) => Object.assign(stacks[1], { name })],
  [".stacks[0].name", (stack) => Object.assign(stack, { name: "" })],
  [".stacks[0].queries.labels", ({ queries }) => queries.labels.splice(0)],
  [".stacks[0].queries.labels[2]", ({ queries }) => Object.assign(queries.labels, { 2: 7 })],
  [".stacks[0].queries.special[0]", ({ queries }) => Object.assign(queries, { special: [1e9] })],
  [".stacks[0].queries.segments", ({ queries }) => Object.assign(queries, { segments: [0, 1] })],
  [
    ".stacks[0].queries.words.of",
    ({ queries }) => Object.assign(queries, { words: { labels: ["a"], of: [0] } }),
  ],
  [".metrics[0].digits", (_, { metrics }) => Object.assign(metrics[0], { digits: 21 })],
  [
    ".metrics[0].values.encoder[0][1]",
    (_, { metrics }) => Object.assign(metrics[0].values.encoder[0], { 1: "high" }),
  ],
  [".metrics[0].values.encoder[1]", (_, { metrics }) => metrics[0].values.encoder[1].pop()],
  [".metrics[0].values.encoder", (_, { metrics }) => metrics[0].values.encoder.pop()],
  [".metrics", (_, { metrics }) => metrics.map(({ values }) => delete values.cross)],
  [".metrics", (_, { metrics }) => metrics.push(...Array(256).fill(metrics[0]))],
  [".patterns.kinds", (_, { patterns }) => patterns.kinds.splice(0)],
  [
    ".patterns.values.encoder[0][0]",
    (_, { patterns }) => Object.assign(patterns.values.encoder[0], { 0: patterns.kinds.length }),
  ],
  [".patterns.values.cross", (_, { patterns }) => delete patterns.values.cross],
  [".stacks[0].layers", ({ layers }) => layers.splice(0)],
  [".stacks[0].layers[1].number", ({ layers }) => Object.assign(layers[1], { number: 0 })],
  [".stacks[0].layers[0].number", ({ layers }) => Object.assign(layers[0], { number: -1 })],
  [".stacks[0].layers[0].heads", ({ layers }) => Object.assign(layers[0], { heads: 2 ** 40 })],
  [".stacks[0].layers[0].key_heads", ({ layers }) => Object.assign(layers[0], { key_heads: 3 })],
  [".stacks[0].layers[0].dim", ({ layers }) => Object.assign(layers[0], { dim: 2 ** 30 })],
  [
    ".stacks[0].layers[0].program.scale",
    ({ layers }) => Object.assign(layers[0].program, { scale: "1" }),
  ],
])("an invalid manifest is refused by name: %s", ([where, change]) => {
  expect(() => readManifest(changed(change))).toThrow(
    `This record is damaged: its manifest${where} is not valid.`,
  );
});

describe("a similarity of heads", () => {
  const known = readManifest(OVERVIEW.manifest);
  /** A similarity for the stack "cross", whose layers 3 and 7 have one and two heads. */
  const similarity = (
    nearest: unknown,
    places: unknown = [
      [[0, 0]],
      [
        [0, 1],
        [1, 0],
      ],
    ],
  ) => ({
    label: "distance",
    kept: 0.5,
    places: { cross: places },
    nearest: { cross: nearest },
  });

  test("comes by layer, for the stacks that have one", () => {
    const read = readSimilarity(similarity([[[[7, 1, 0.5]]], [[], []]]), known);
    const [layer, other] = known.stacks[1].layers;
    expect(read?.nearest.get(layer)).toEqual([[[7, 1, 0.5]]]);
    expect(read?.places.get(other)).toEqual([
      [0, 1],
      [1, 0],
    ]);
    expect(read?.places.has(known.stacks[0].layers[0])).toBe(false);
    expect(readSimilarity(undefined, known)).toBeNull();
  });

  test.for<[nearest: unknown, places: unknown]>([
    [[[[[7, 2, 0.5]]], [[], []]], undefined],
    [[[[[4, 0, 0.5]]], [[], []]], undefined],
    [[[[[7, 1]]], [[], []]], undefined],
    [[[[]], [[]]], undefined],
    [
      [[[]], [[], []]],
      [
        [[0]],
        [
          [0, 1],
          [1, 0],
        ],
      ],
    ],
  ])("%j is refused", ([nearest, places]) => {
    expect(() => readSimilarity(similarity(nearest, places), known)).toThrow(
      /damaged: its similarity/,
    );
  });
});

test("a metric without a null and an interval has none; damaged ones are refused", () => {
  const { metrics } = OVERVIEW.manifest as {
    metrics: { values: Record<string, (number | null)[][]> }[];
  };
  const known = readManifest(OVERVIEW.manifest);
  expect(known.metrics[0]).toMatchObject({ null: null, interval: null });
  const { values } = metrics[0];
  const own = {
    ...metrics[0],
    null: { label: "random", values },
    interval: { low: values, high: values },
  };
  const [read] = readMetrics([own], known);
  const layer = known.stacks[1].layers[1];
  expect(read.null?.values.get(layer)).toEqual(values.cross[1]);
  expect(read.interval?.high.get(layer)).toEqual(values.cross[1]);
  for (const wrong of [
    { null: { label: "", values } },
    { interval: { low: values } },
    { null: { label: "random", values: { cross: [] } } },
  ]) {
    expect(() => readMetrics([{ ...own, ...wrong }], known)).toThrow(/damaged: its metrics/);
  }
});

describe("annotated links", () => {
  const known = readManifest(OVERVIEW.manifest);
  const arc = { stack: "cross", query: [2, 3], key: [0, 5], label: "obj", by: "query" };

  test("come through, and some hosts leave them out", () => {
    expect(readArcs([arc], known)).toEqual([arc]);
    expect(readArcs(undefined, known)).toEqual([]);
  });

  test.for([
    { stack: "decoder" },
    { query: [2, 4] },
    { query: [2, 2] },
    { key: [5, 6] },
    { key: 1 },
    { by: "head" },
    { label: "x".repeat(61) },
  ])("%j is refused", (wrong) => {
    expect(() => readArcs([{ ...arc, ...wrong }], known)).toThrow(/damaged: its arcs\[0\]/);
  });
});

describe("words of a lens, a metric and a link that the user wrote", () => {
  const lens = (words: object) => {
    const manifest = sent() as unknown as { lenses: object[] };
    Object.assign(manifest.lenses[0], words);
    return readManifest(manifest).lenses[0];
  };

  test("from right to left are isolated, so that numbers beside them keep their place", () => {
    const isolated = "\u2068שלום\u2069";
    const words = { label: "שלום", one: "שלום", unit: "שלום" };
    expect(lens(words)).toMatchObject({ label: isolated, one: isolated, unit: isolated });
    const { stacks } = readManifest(sent());
    const arc = { stack: "encoder", query: [0, 1], key: [0, 1], label: "שלום", by: "key" };
    expect(readArcs([arc], { stacks } as never)[0].label).toBe(isolated);
  });

  test("are short in lines", () => {
    expect(lens({ label: "W".repeat(200) }).label).toBe(`${"W".repeat(39)}…`);
    expect(lens({ label: "W".repeat(40) }).label).toBe("W".repeat(40));
  });

  test("are as long as Python counts them", () => {
    expect(() => lens({ name: "😀".repeat(200) })).not.toThrow();
    expect(() => lens({ name: "😀".repeat(201) })).toThrow(".lenses[0].name is not valid");
  });
});

test("a manifest without lenses is refused", () => {
  const { lenses, ...others } = sent() as unknown as { lenses: unknown };
  expect(lenses).toBeDefined();
  expect(() => readManifest(others)).toThrow("its manifest.lenses is not valid");
});
