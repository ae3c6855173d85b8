import { expect, test } from "vitest";
import { readManifest } from "../../../../src/data/read-manifest.ts";
import { palette } from "../../../../src/styles/palette.ts";
import { countPatterns, described } from "../../../../src/views/shared/all-heads/words.ts";
import { RECORD } from "../../../support/vectors.ts";
import { textOf } from "../../../support/view.ts";

const [layer] = readManifest(RECORD.manifest).stacks[0].layers;
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
