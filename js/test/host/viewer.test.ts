/** What the viewer makes of files itself; `tests/browser/test_viewer.py` compares it with Python. */

import { expect, test } from "vitest";
import { patternOf, type Rules, readProfile } from "../../src/host/profile-file.ts";
import { readFile, wordsOf } from "../../src/host/record-file.ts";
import { headSummary, sampledOf } from "../../src/host/record-numbers.ts";
import { positions } from "../support/layers.ts";

test("metrics and the thumbnail of a head", () => {
  const tokens = { ...positions(3), special: [2] };
  const rows = [
    [1, 0, 0],
    [0.5, 0.5, 0],
    [0, 0, 0],
  ];
  const of = { queries: tokens, keys: tokens, sampled: null };
  const { metrics, levels } = headSummary((i) => Float32Array.from(rows[i]), false, of);
  // The last row sees no key, and does not count.
  expect(metrics).toMatchObject({
    same: 0.75,
    previous: 0.5,
    first: 0.75,
    distance: -0.25,
    next: 0,
  });
  expect(metrics.entropy).toBeCloseTo(Math.LN2 / 2, 5);
  expect([...levels]).toEqual([15, 0, 0, 11, 11, 0, 0, 0, 0]);
});

test("coefficients count by their magnitudes, and have a scale of their own", () => {
  const tokens = positions(2);
  const rows = [Float32Array.of(-2, 0), Float32Array.of(-1, 0.5)];
  const of = { queries: tokens, keys: tokens, sampled: null };
  const { metrics, levels, peak } = headSummary((i) => rows[i], true, of);
  expect(metrics).toMatchObject({ row_sum: -1.25, same: 0.666667 });
  expect(peak).toBe(2);
  expect([...levels]).toEqual([1, 8, 3, 12]);
});

test("rows of long texts are sampled", () => {
  const stack = (tokens: number) => ({ queries: tokens, keys: tokens, heads: 144 });
  expect(sampledOf([stack(100), stack(200)])).toEqual([null, null]);
  expect(sampledOf([stack(2000)])).toEqual([694]);
  expect(sampledOf([stack(20000)])).toEqual([256]);
});

test("words of several tokens", () => {
  const labels = ["[CLS]", "play", "##ing", "🦜 1/2", "🦜 2/2"];
  const words = wordsOf(labels, [null, 0, 0, 1, 1]);
  expect(words).toEqual({ labels: ["[CLS]", "playing", "🦜"], of: [0, 1, 1, 2, 2] });
});

const RULES: Rules = {
  ...{ kinds: ["mixed", "rests", "looks back"], mixed: 0, above_null: 0.2, least_rest: 0.01 },
  resting: [rule("rests", "first", 1, null)],
  looking: [rule("looks back", "previous", 2, "rest_previous")],
};

function rule(words: string, metric: string, kind: number, of_rest: string | null) {
  return { words, metric, kind, of_rest, least: 0.5, nulls: ["random"] };
}

test("words of heads over many texts", () => {
  const nulls = new Map([["random", { first: 0.1, previous: 0.4 }]]);
  expect(patternOf(RULES, { first: 0.2, previous: 0.55 }, nulls).words).toBe("mixed");
  expect(patternOf(RULES, { first: 0.9, rest: 0.1, rest_previous: 0.8 }, nulls)).toEqual({
    ...{ kind: 2, words: "rests; else looks back" },
    reasons: "first .90 > .5 (random .10), rest_previous .80 > .5",
  });
});

const file = (metadata: object, arrays: object = {}) => {
  const header = new TextEncoder().encode(JSON.stringify({ __metadata__: metadata, ...arrays }));
  const size = new DataView(new ArrayBuffer(8));
  size.setBigUint64(0, BigInt(header.length), true);
  return new Blob([size.buffer, header]);
};

test("files that end early, and newer ones", async () => {
  const arrays = { a: { dtype: "F32", shape: [4], data_offsets: [0, 16] } };
  const cut = await readFile(file({ "attnwidget-record": "{}" }, arrays));
  await expect(cut.read("a")).rejects.toThrow(RangeError);
  await expect(cut.read("b")).rejects.toThrow(TypeError);
  const newer = file({ "attnwidget-profile": '{"version": 2}' });
  await expect(readFile(newer)).rejects.toThrow("A newer version");
});

test("arrays of a record that claim more heads than they hold", async () => {
  const claim = async (shape: number[]) => {
    const arrays = { a: { dtype: "F32", shape, data_offsets: [0, 0] } };
    return (await readFile(file({ "attnwidget-record": "{}" }, arrays))).shapeOf("a");
  };
  await expect(claim([2 ** 32 - 1, 1, 1])).rejects.toThrow(RangeError);
  await expect(claim([2 ** 32 - 1, 1, 0])).rejects.toThrow(RangeError);
});

test("arrays of a profile that claim more than they hold", async () => {
  const shape = [1, 1, 1, 1 << 20];
  const content = {
    ...{ model: "", missing: [], num_texts: 1, nulls: [], metrics: [{ name: "first" }] },
    stacks: [{ name: "self", numbers: [0], heads: [1 << 20] }],
    arrays: { "0.mean": { dtype: "<f8", shape } },
  };
  const few = () => Promise.resolve(new Uint8Array(8));
  await expect(readProfile(content, few, [], RULES)).rejects.toThrow(TypeError);
  // A million layers of a million heads, over an array that fits one.
  let read = 0;
  const stacks = [{ name: "self", numbers: [0], heads: Array(1 << 20).fill(1 << 20) }];
  const none = () => Promise.reject(new Error(`${++read}`));
  await expect(readProfile({ ...content, stacks }, none, [], RULES)).rejects.toThrow(TypeError);
  expect(read).toBe(0);
});
