import { describe, expect, test } from "vitest";
import { decodeIntegers } from "../../src/data/integers.ts";
import { bytes, CODED } from "../support/vectors.ts";

const DAMAGED = "The numbers of this layer are damaged.";

describe.for(CODED)("coded integers: $name", ({ values, data }) => {
  const sent = bytes(data);

  test("come back", () => {
    expect([...decodeIntegers(sent, values.length)]).toEqual(values);
  });

  test("come back from the middle of a larger buffer", () => {
    const larger = new Uint8Array(sent.length + 8).fill(255);
    larger.set(sent, 3);
    const inside = larger.subarray(3, 3 + sent.length);
    expect([...decodeIntegers(inside, values.length)]).toEqual(values);
  });

  test("are refused where bytes are missing or too many", () => {
    for (let end = 0; end < sent.length; end++) {
      expect(() => decodeIntegers(sent.subarray(0, end), values.length)).toThrow(DAMAGED);
    }
    const longer = new Uint8Array([...sent, 0, 0, 0, 0]);
    expect(() => decodeIntegers(longer, values.length)).toThrow(DAMAGED);
  });
});

const [, , , channels] = CODED;
const HEADER = 13;

/** The bytes of one case with some of them changed. */
function changed(at: number, ...values: number[]): Uint8Array {
  const out = bytes(channels.data);
  out.set(values, at);
  return out;
}

test.for([
  { what: "channels without a length", damaged: changed(0, 0, 0, 0, 0) },
  { what: "no states", damaged: changed(4, 0, 0) },
  { what: "no tables", damaged: changed(6, 0) },
  { what: "more words than there are bytes", damaged: changed(8, 255, 255, 255, 255) },
  { what: "centres out of range", damaged: changed(12, 200) },
  { what: "a table that is not there", damaged: changed(HEADER, 2) },
  { what: "frequencies of a wrong sum", damaged: changed(HEADER + 4, 255, 255) },
])("$what are refused", ({ damaged }) => {
  expect(() => decodeIntegers(damaged, channels.values.length)).toThrow(DAMAGED);
});

test("a changed word is noticed by where the states end", () => {
  const at = bytes(channels.data).length - 60;
  expect(() => decodeIntegers(changed(at, 0x5a), channels.values.length)).toThrow(DAMAGED);
});
