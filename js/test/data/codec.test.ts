import { describe, expect, test } from "vitest";
import { decodeBlock, type Part } from "../../src/data/codec.ts";
import { BLOCKS, blockOf } from "../support/vectors.ts";

describe.for(BLOCKS)("a block with $name", (given) => {
  test("becomes exactly the numbers that were encoded", () => {
    const arrays = decodeBlock(blockOf(given));
    const decoded = Object.fromEntries(
      [...arrays].map(([name, { values }]) => [name, [...values]]),
    );
    expect(decoded).toStrictEqual(given.decoded);
    for (const { name, shape } of given.parts) {
      // Steps are multiplied with their integers.
      if (!name.endsWith("_steps")) expect(arrays.get(name)?.shape).toEqual(shape);
    }
  });

  test("is read from the middle of a larger buffer, at odd offsets too", () => {
    const { parts, buffers } = blockOf(given);
    const inside = buffers.map((buffer) => {
      const larger = new Uint8Array(buffer.length + 8).fill(255);
      larger.set(buffer, 3);
      return larger.subarray(3, 3 + buffer.length);
    });
    const arrays = decodeBlock({ parts, buffers: inside });
    for (const [name, { values }] of arrays) expect([...values]).toStrictEqual(given.decoded[name]);
  });

  test("is refused if a byte is missing, too many, or a buffer is", () => {
    const { parts, buffers } = blockOf(given);
    const [first, ...others] = buffers;
    const incomplete = `The ${parts[0].name} of this layer are incomplete.`;
    const longer = new Uint8Array([...first, 0]);
    for (const changed of [first.subarray(1), longer, new Uint8Array()]) {
      expect(() => decodeBlock({ parts, buffers: [changed, ...others] })).toThrow(incomplete);
    }
    expect(() => decodeBlock({ parts, buffers: buffers.slice(0, -1) })).toThrow("incomplete");
  });
});

test("a type from the future is named, not taken for a broken transfer", () => {
  const part = { name: "queries", dtype: "u8", shape: [2] } as unknown as Part;
  expect(() => decodeBlock({ parts: [part], buffers: [new Uint8Array(2)] })).toThrow(
    "This view cannot read arrays of type u8.",
  );
});
