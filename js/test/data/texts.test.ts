import { expect, test } from "vitest";
import type { StackInfo, Tokens } from "../../src/data/manifest.ts";
import { textsOf, writesOn } from "../../src/data/manifest.ts";

const tokens = (...labels: string[]): Tokens => ({
  labels,
  segments: null,
  special: [],
  words: null,
  patches: null,
  boxes: null,
  generated: null,
});
const source = tokens("a", "dog");
const target = tokens("ein", "Hund");
const stack = (name: string, queries: Tokens, keys: Tokens): StackInfo => ({
  name,
  queries,
  keys,
  text: null,
  sampled: null,
  layers: [],
});
const within = (name: string, text: Tokens) => stack(name, text, text);

test("texts have the names of the stacks that attend within them", () => {
  const cross = stack("cross", target, source);
  const stacks = [within("encoder", source), within("decoder", target), cross];
  const names = { query: "decoder", key: "encoder" };
  expect(textsOf(cross, stacks)).toEqual(names);
  expect(stacks.slice(0, 2).map((each) => textsOf(each, stacks))).toEqual([null, null]);
  // A copy, and a stack of which nothing else was captured.
  const copy = stack("cross", tokens(...source.labels), source);
  const copied = [within("encoder", source), within("decoder", copy.queries), copy];
  expect(textsOf(copy, copied)).toEqual(names);
  expect(textsOf(cross, [cross])).toEqual(names);
  const seen = stack("text cross", target, source);
  expect(textsOf(seen, [within("vision", source), seen])).toEqual({ query: "", key: "vision" });
});

test("a row makes the next token in a decoder, and where tokens were generated", () => {
  const cross = stack("cross", target, source);
  expect(writesOn(cross, textsOf(cross, [cross]))).toBe(true);
  expect(writesOn(within("decoder", target), null)).toBe(true);
  expect(writesOn(within("self", source), null)).toBe(false);
  expect(writesOn(within("self", { ...source, generated: 1 }), null)).toBe(true);
});
