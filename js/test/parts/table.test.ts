import { expect, test } from "vitest";
import { tsv } from "../../src/parts/table.ts";

const text = (...rows: (string | number)[][]) => tsv(rows);

test("cells are apart by tabs, rows by lines", () => {
  expect(text(["key", "token", "Head 0"], [0, "cat", 0.25])).toBe(
    "key\ttoken\tHead 0\n0\tcat\t0.25\n",
  );
});

test("a single-precision number keeps all its digits, and no more", () => {
  const weight = Math.fround(0.1234567);
  expect(Math.fround(Number(text([weight])))).toBe(weight);
  expect(text([weight]).trim().length).toBeLessThanOrEqual(11);
});

test("what is masked is an infinity that other programs read", () => {
  expect(text([Number.NEGATIVE_INFINITY])).toBe("-inf\n");
});

test.for([
  ['"', '""""'],
  ["a\tb", '"a\tb"'],
  ["a\nb", '"a\nb"'],
  ['say "it"', '"say ""it"""'],
  ["it's", "it's"],
])("the token %j stays one cell", ([token, cell]) => {
  expect(text([token, 1])).toBe(`${cell}\t1\n`);
});
