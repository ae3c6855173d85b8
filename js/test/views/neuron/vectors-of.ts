/** The queries and keys of the shared vectors' record, out of the blocks themselves. */

import { decodeBlock } from "../../../src/data/codec.ts";
import { blockOf, RECORD } from "../../support/vectors.ts";

/** A vector of a layer, [dim]. */
export function vector(
  layer: number,
  name: "queries" | "keys",
  head: number,
  at: number,
): number[] {
  const block = blockOf(RECORD.blocks[`self.${layer}`]);
  const [, tokens, dim] = block.parts.find((part) => part.name === name)?.shape ?? [];
  const { values } = decodeBlock(block).get(name) ?? { values: [] };
  return [...values].slice((head * tokens + at) * dim, (head * tokens + at + 1) * dim);
}
