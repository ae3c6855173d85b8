import { expect, test } from "vitest";
import type { LayerInfo } from "../../src/data/manifest.ts";
import { type Choices, defaults } from "../../src/state/choices.ts";
import { following, type StackShape } from "../../src/state/following.ts";
import { positions } from "../support/layers.ts";
import { FOLLOWING, type FollowingCase } from "../support/vectors.ts";

const shapeOf = ({ queries, keys, heads }: FollowingCase["stack"]): StackShape => ({
  queries: positions(queries),
  keys: positions(keys),
  layers: Object.entries(heads).map(
    ([number, count]) => ({ number: Number(number), heads: count }) as LayerInfo,
  ),
});

test("what follows from a change is what follows in Python", () => {
  for (const { stack, before, change, after } of FOLLOWING) {
    const values: Choices = { ...defaults("encoder"), ...before };
    const [[name, value]] = Object.entries(change) as [keyof Choices, never][];
    const follow = following(shapeOf(stack), values, name, value);
    expect({ ...values, ...change, ...follow }, JSON.stringify({ before, change })).toEqual({
      ...values,
      ...after,
    });
  }
});
