import { expect, test } from "vitest";
import type { Metric } from "../../../../src/data/manifest.ts";
import { readManifest, readMetrics } from "../../../../src/data/read-manifest.ts";
import { palette } from "../../../../src/styles/palette.ts";
import {
  countPatterns,
  described,
  headStatus,
  metricTable,
} from "../../../../src/views/shared/all-heads/words.ts";
import { RECORD } from "../../../support/vectors.ts";
import { textOf } from "../../../support/view.ts";

const manifest = readManifest(RECORD.manifest);
const { layers } = manifest.stacks[0];
const [layer] = layers;
const kinds = ["mixed", "looks at commas"];
const values = new Map([[layer, [0, 1, 0, 0]]]);
const found = { kinds, values, words: new Map(), reasons: new Map() };

test("a head is said to be of its kind", () => {
  expect(described(found, { layer, head: 1 })).toBe("looks at commas");
});

test("the kinds of all heads are counted, the most frequent first", () => {
  const heads = [0, 1, 2, 3].map((head) => ({ layer, head }));
  const phrase = countPatterns(found, heads, palette(false));
  expect(textOf(phrase)).toMatch(/3\smixed\W+1\slooks\sat\scommas/);
});

const numbers = (name: string, value: number, more = {}) => ({
  name,
  label: name,
  unit: "nats",
  digits: 2,
  signed: false,
  directions: null,
  description: "",
  values: { self: layers.map(({ heads }) => Array(heads).fill(value)) },
  ...more,
});

test("the number in use stands beside its null, and details that are zero everywhere are left out", () => {
  const { values } = numbers("null", 0.125);
  const own = [
    numbers("effect", 0, { null: { label: "random directions", values } }),
    numbers("next", 0),
    numbers("entropy", 1.5),
  ];
  const read = readMetrics(own, manifest);
  const said = textOf(headStatus({ layer, head: 1 }, described(found, { layer, head: 1 }), read));
  expect(said).toContain("· effect 0.00 nats (random directions 0.13 nats) · entropy 1.50 nats");
  expect(said).not.toContain("next");
  const rows = [...metricTable(read, { layer, head: 1 }).children];
  expect(rows.map((row) => row.firstChild?.textContent)).toEqual(["effect", "entropy"]);
});

test("a mixed head is said to have its largest share, rounded down", () => {
  // The word that Python sends.
  expect(manifest.patterns.kinds).toContain("mixed");
  const share = (name: string, first: number, signed = false) => {
    const known = manifest.metrics.find((metric) => metric.name === name);
    return { ...(known as Metric), signed, values: new Map([[layer, [first, 0.9, 0.004]]]) };
  };
  const metrics = [share("entropy", 1.9), share("previous", 0.2), share("first", 0.499)];
  const said = (head: number, of = metrics) => described(found, { layer, head }, of);
  expect(said(0)).toBe("mixed: 49% on first token");
  expect(said(1)).toBe("looks at commas");
  expect(said(2)).toBe("mixed");
  expect(said(0, [share("first", 0.3, true)])).toBe("mixed");
});
