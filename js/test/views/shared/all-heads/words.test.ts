import { expect, test } from "vitest";
import type { Metric } from "../../../../src/data/manifest.ts";
import { readManifest } from "../../../../src/data/read-manifest.ts";
import { palette } from "../../../../src/styles/palette.ts";
import { countPatterns, described } from "../../../../src/views/shared/all-heads/words.ts";
import { RECORD } from "../../../support/vectors.ts";
import { textOf } from "../../../support/view.ts";

const manifest = readManifest(RECORD.manifest);
const [layer] = manifest.stacks[0].layers;
const kinds = ["mixed", "looks at commas"];
const values = new Map([[layer, [0, 1, 0, 0]]]);
const found = { kinds, values, words: new Map(), reasons: new Map() };

test("a head is said to be of its kind", () => {
  expect(described(found, { layer, head: 1 })).toBe("looks at commas");
});

test("the kinds of all heads are counted, the most frequent first", () => {
  const heads = [0, 1, 2, 3].map((head) => ({ layer, head }));
  const phrase = countPatterns(found, heads, palette(false));
  expect(textOf(phrase)).toMatch(/3 mixed\W+1 looks at commas/);
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
