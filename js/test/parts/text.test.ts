import { describe, expect, test } from "vitest";
import {
  columnWidth,
  number,
  roundedUp,
  scaling,
  shorten,
  textMeasure,
  weight,
} from "../../src/parts/text.ts";

test.for([
  { value: 0, text: "0.000" },
  { value: 1, text: "1.000" },
  { value: 0.25, text: "0.250" },
  { value: 0.12345, text: "0.123" },
  { value: 0.0005, text: "0.001" },
  // Not zero, so it must not look like zero.
  { value: 0.000499, text: "<0.001" },
  { value: 1e-12, text: "<0.001" },
])("weight $value reads $text", ({ value, text }) => {
  expect(weight(value)).toBe(text);
});

describe("number", () => {
  test.for([
    { value: 0, text: "0.00" },
    { value: 5.4321, text: "5.43" },
    { value: 1234.5, text: "1234.50" },
    // U+2212, as wide as a plus; a hyphen is not.
    { value: -5.4321, text: "\u22125.43" },
    { value: Number.NEGATIVE_INFINITY, text: "masked" },
  ])("$value reads $text", ({ value, text }) => {
    expect(number(value)).toBe(text);
  });

  test("has as many decimals as asked for", () => {
    expect(number(-5.4321, 1)).toBe("\u22125.4");
    expect(number(5.43219, 4)).toBe("5.4322");
  });

  test("has no sign where it is rounded to zero", () => {
    expect(number(-0.001)).toBe("0.00");
  });
});

test.for([
  { value: 0, text: "0" },
  { value: 0.0012, text: "0.002" },
  { value: 0.002, text: "0.002" },
  { value: 0.00096, text: "0.001" },
  { value: 3.1e-8, text: "4e-8" },
  { value: 0.3, text: "0.3" },
])("a bound of $value is no more than $text", ({ value, text }) => {
  expect(roundedUp(value)).toBe(text);
});

describe("what makes a score of q · k", () => {
  const plain = { scale: 0.125, softcap: null, bias: false, relative: false };

  test.for([
    { name: "1/√d as a root", program: plain, dim: 64, text: "÷ √64" },
    {
      name: "1/√d in single precision",
      program: { ...plain, scale: Math.fround(1 / Math.sqrt(80)) },
      dim: 80,
      text: "÷ √80",
    },
    { name: "another scale as itself", program: plain, dim: 32, text: "× 0.125" },
    {
      name: "a long scale shortened",
      program: { ...plain, scale: 0.0721687836 },
      dim: 64,
      text: "× 0.07217",
    },
    { name: "no scale", program: { ...plain, scale: 1 }, dim: 64, text: "" },
    { name: "the root of one", program: { ...plain, scale: 1 }, dim: 1, text: "÷ √1" },
    {
      name: "a softcap",
      program: { ...plain, softcap: 50 },
      dim: 64,
      text: "÷ √64, softcap 50·tanh(x/50)",
    },
    { name: "a bias", program: { ...plain, bias: true }, dim: 64, text: "÷ √64 + bias" },
    {
      name: "a relative bias",
      program: { ...plain, relative: true },
      dim: 64,
      text: "÷ √64 + bias",
    },
    { name: "the head's own scale", program: { ...plain, scale: [1, 2, 3] }, dim: 64, text: "× 3" },
    {
      name: "a bias outside of the softcap",
      program: { scale: 1, softcap: 2.5, bias: true, relative: false },
      dim: 64,
      text: "softcap 2.5·tanh(x/2.5), + bias",
    },
  ])("shows $name", ({ program, dim, text }) => {
    expect(scaling(program, 2, dim)).toBe(text);
  });
});

describe("columnWidth", () => {
  const bounds: [number, number] = [40, 200];

  test("holds the longest label", () => {
    const [short, long] = [
      columnWidth(["abcdef"], 14, bounds),
      columnWidth(["abcdefghijkl"], 14, bounds),
    ];
    expect(long).toBeGreaterThan(short);
    expect(columnWidth(["ab", "abcdefghijkl", "abc"], 14, bounds)).toBe(long);
    const span = document.createElement("span");
    span.style.cssText =
      "font: 600 14px system-ui, sans-serif; white-space: pre; position: absolute";
    span.textContent = "abcdefghijkl";
    document.body.append(span);
    expect(long).toBeGreaterThan(span.getBoundingClientRect().width);
    span.remove();
  });

  test("stays within its bounds", () => {
    expect(columnWidth([""], 14, bounds)).toBe(40);
    expect(columnWidth(["m".repeat(500)], 14, bounds)).toBe(200);
    expect(columnWidth([], 14, bounds)).toBe(40);
  });
});

describe("shorten", () => {
  const each = (text: string) => [...text].length;

  test.for([
    { width: 20, text: "abcdefghij" },
    { width: 10, text: "abcdefghij" },
    { width: 9, text: "abcd…ghij" },
    { width: 8, text: "abcd…hij" },
    { width: 5, text: "ab…ij" },
    { width: 3, text: "a…j" },
    // The first character says more than a mark.
    { width: 2, text: "a" },
    { width: 0, text: "a" },
  ])("to a width of $width: $text", ({ width, text }) => {
    expect(shorten("abcdefghij", width, each)).toBe(text);
  });

  test.for([
    { width: 11, text: "big | small" },
    { width: 9, text: "big|small" },
    { width: 7, text: "big|s…l" },
    { width: 5, text: "b|s…l" },
    { width: 3, text: "b|s" },
    { width: 2, text: "b" },
  ])("each text of a pair to $text", ({ width, text }) => {
    expect(shorten("big | small", width, each)).toBe(text);
  });

  test("cuts no character in two", () => {
    expect(shorten("🙂🙃🙂🙃🙂🙃", 3, each)).toBe("🙂…🙃");
  });

  test("leaves alone what is empty", () => {
    expect(shorten("", 0, each)).toBe("");
  });

  test("fits, as the browser measures it", () => {
    const measure = textMeasure("600 14px system-ui, sans-serif");
    const short = shorten("Donaudampfschifffahrtsgesellschaft", 100, measure);
    expect(measure(short)).toBeLessThanOrEqual(100);
    // One character more would not.
    expect(measure(short)).toBeGreaterThan(70);
    expect(short).toMatch(/^Do.*….*ft$/);
  });
});
