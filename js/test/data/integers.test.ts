import { describe, expect, test } from "vitest";
import { type Block, decodeBlock } from "../../src/data/codec.ts";
import { blockOf, CODED } from "../support/vectors.ts";

const DAMAGED = "The numbers of this layer are damaged.";

const decoded = (block: Block) => [...(decodeBlock(block).get("integers")?.values ?? [])];

/** The block with the numbers of one part changed. */
function changed(block: Block, name: string, change: (bytes: DataView) => void): Block {
  const buffers = block.parts.map((part, at) => {
    const bytes = block.buffers[at].slice();
    if (part.name === name) change(new DataView(bytes.buffer));
    return bytes;
  });
  return { ...block, buffers };
}

/** The block with another number of lower bits. */
function withLow(block: Block, count: number): Block {
  const parts = block.parts.map((part) =>
    part.name === "integers_low" ? { ...part, shape: [count] } : part,
  );
  const buffers = block.parts.map(({ name }, at) =>
    name === "integers_low" ? new Uint8Array(Math.ceil(count / 8)) : block.buffers[at],
  );
  return { parts, buffers };
}

describe.for(CODED)("coded integers: $name", (sent) => {
  test("come back", () => {
    expect(decoded(blockOf(sent))).toEqual(sent.values);
  });

  test("are refused without one of their parts", () => {
    const { parts, buffers } = blockOf(sent);
    for (const name of ["integers", "integers_low"]) {
      const kept = parts.map((part) => part.name !== name);
      const rest = {
        parts: parts.filter((_, at) => kept[at]),
        buffers: buffers.filter((_, at) => kept[at]),
      };
      expect(() => decodeBlock(rest)).toThrow(`This layer has no ${name}.`);
    }
  });

  test("are refused with too many or too few lower bits", () => {
    const block = blockOf(sent);
    const count = block.parts[2].shape[0];
    expect(() => decodeBlock(withLow(block, count + 8))).toThrow(DAMAGED);
    if (count) expect(() => decodeBlock(withLow(block, count - 1))).toThrow(DAMAGED);
  });
});

test.for([-1, 25])("a shift of %i is refused", (shift) => {
  const [, , , channels] = CODED;
  const block = changed(blockOf(channels), "integers_channels", (view) =>
    // After the ranks of three channels.
    view.setInt16(6, shift, true),
  );
  expect(() => decodeBlock(block)).toThrow(DAMAGED);
});
