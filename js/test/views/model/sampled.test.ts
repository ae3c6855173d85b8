import { expect, test } from "vitest";
import { readManifest } from "../../../src/data/read-manifest.ts";
import { sampledText } from "../../../src/views/shared/all-heads/words.ts";
import { RECORD } from "../../support/vectors.ts";

const manifest = readManifest(RECORD.manifest);
const [stack] = manifest.stacks;

test("of a very long text, it is said how much of it is seen", () => {
  const labels = Array.from({ length: 32_768 }, (_, n) => `t${n}`);
  const long = { ...stack, queries: { ...stack.queries, labels }, sampled: 2048 };
  expect(sampledText(long, manifest)).toBe("pictures and numbers from 2,048 of 32,768 queries");
});

test("of any other, nothing is said", () => {
  expect(sampledText(stack, manifest)).toBe("");
});
