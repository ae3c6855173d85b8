import { describe, expect, test } from "vitest";
import { readManifest } from "../../src/data/read-manifest.ts";
import { decodeOverview } from "../../src/data/thumbnails.ts";
import { bytes, OVERVIEW, RECORD } from "../support/vectors.ts";

const hex = (levels: Int8Array) => Array.from(levels, (n) => n.toString(16)).join("");

describe.for([
  { name: "two stacks", content: OVERVIEW },
  { name: "one stack", content: RECORD },
])("the overview of $name", ({ content }) => {
  const manifest = readManifest(content.manifest);
  const overview = decodeOverview(manifest, bytes(content.overview));
  const decoded = manifest.stacks.map(({ name }) => overview.get(name)?.get("attention") ?? []);

  test("has every thumbnail's levels in place", () => {
    const levels = decoded.map((stack) =>
      stack.map((layer) => layer.map((thumbnail) => hex(thumbnail.levels))),
    );
    expect(levels).toEqual(content.levels);
  });

  test("has thumbnails of the right shape, 32 at most", () => {
    decoded.forEach((stack, s) => {
      const { queries, keys } = manifest.stacks[s];
      for (const { rows, columns } of stack.flat()) {
        expect(rows).toBe(Math.min(queries.labels.length, 32));
        expect(columns).toBe(Math.min(keys.labels.length, 32));
      }
    });
  });
});
