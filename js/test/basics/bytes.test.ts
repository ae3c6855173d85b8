import { expect, test } from "vitest";
import { fromBase85 } from "../../src/basics/bytes.ts";
import { BASE85, bytes } from "../support/vectors.ts";

test.for(BASE85)("bytes from the text of a page: $text", ({ bytes: expected, text }) => {
  expect([...fromBase85(text)]).toEqual([...bytes(expected)]);
});
