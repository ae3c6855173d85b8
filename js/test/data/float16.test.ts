import { expect, test } from "vitest";
import { float16 } from "../../src/data/codec.ts";

const view = new DataView(new ArrayBuffer(4));

/** By way of single precision, whose bits the platform reads: nothing is computed as a number. */
function reference(bits: number): number {
  const sign = (bits >>> 15) << 31;
  let exponent = (bits >>> 10) & 0x1f;
  let fraction = bits & 0x3ff;
  if (exponent === 0x1f) exponent = 0xff;
  else if (exponent > 0) exponent += 127 - 15;
  else if (fraction > 0) {
    exponent = 127 - 14;
    while (!(fraction & 0x400)) {
      fraction <<= 1;
      exponent -= 1;
    }
    fraction &= 0x3ff;
  }
  view.setUint32(0, sign | (exponent << 23) | (fraction << 13));
  return view.getFloat32(0);
}

test("all 65536 half-precision numbers", () => {
  const wrong = [];
  for (let bits = 0; bits < 65536; bits++) {
    if (!Object.is(float16(bits), reference(bits))) wrong.push(bits);
  }
  expect(wrong).toEqual([]);
});

test("the reference itself, where the standard names the values", () => {
  expect(reference(0x0001)).toBe(2 ** -24);
  expect(reference(0x03ff)).toBe(1023 * 2 ** -24);
  expect(reference(0x0400)).toBe(2 ** -14);
  expect(reference(0x3555)).toBe(1365 / 4096);
  expect(reference(0xc000)).toBe(-2);
  expect(reference(0x7bff)).toBe(65504);
  expect(reference(0x7c00)).toBe(Number.POSITIVE_INFINITY);
  expect(reference(0x7e00)).toBeNaN();
});
