/** Damaged content of a page or a notebook: a manifest, thumbnails and choices. */

import { test } from "vitest";
import { readManifest } from "../../src/data/read-manifest.ts";
import { splitOf } from "../../src/data/shown.ts";
import { Store } from "../../src/data/store.ts";
import { hasWords, unitsOf } from "../../src/data/units.ts";
import { defaults } from "../../src/state/choices.ts";
import { accept, createState } from "../../src/state/state.ts";
import { bytes, OVERVIEW, RECORD } from "../support/vectors.ts";
import { CAMPAIGN_PATIENCE, campaign } from "./campaign.ts";
import { bytesOf, jsonOf, oneOf } from "./mutate.ts";

const MANIFESTS = [RECORD.manifest, OVERVIEW.manifest];
const nothing = { block: () => new Promise<never>(() => {}) };

test("a manifest", { timeout: CAMPAIGN_PATIENCE }, () =>
  campaign("manifest", 4000, (random) => {
    const manifest = readManifest(jsonOf(oneOf(random, MANIFESTS), random));
    const state = createState(manifest, {});
    for (const stack of manifest.stacks) {
      hasWords(stack);
      for (const tokens of [stack.queries, stack.keys]) {
        splitOf(tokens);
        const { labels, of, tokens: each } = unitsOf(tokens, true);
        if (labels.length !== each.length || of.length !== tokens.labels.length) throw TypeError();
      }
    }
    if (state.shown.head.value >= state.shown.layer.value.heads) throw TypeError();
    return true;
  }),
);

test("the text of a page", { timeout: CAMPAIGN_PATIENCE }, () => {
  const encoder = new TextEncoder();
  const texts = MANIFESTS.map((manifest) => encoder.encode(JSON.stringify(manifest)));
  return campaign("text", 1500, (random) => {
    const text = new TextDecoder().decode(bytesOf(oneOf(random, texts), texts, random));
    let content: unknown;
    try {
      content = JSON.parse(text);
    } catch {
      return false;
    }
    readManifest(content);
    return true;
  });
});

test("thumbnails", { timeout: CAMPAIGN_PATIENCE }, () => {
  const records = [RECORD, OVERVIEW].map(({ manifest, overview }) => ({
    manifest: readManifest(manifest),
    overview: bytes(overview),
  }));
  return campaign("thumbnails", 500, (random) => {
    const { manifest, overview } = oneOf(random, records);
    const store = new Store(manifest, bytesOf(overview, [overview], random), nothing);
    const [{ name, layers }] = manifest.stacks;
    return store
      .stack(name)
      .thumbnail(layers[0].number, 0)
      .levels.every((level) => level < 16);
  });
});

test("choices", { timeout: CAMPAIGN_PATIENCE }, () => {
  const manifest = readManifest(RECORD.manifest);
  const given = { ...defaults("self"), heads: [1, 2], query: 3, also: [4], muted: [0], layer: 2 };
  return campaign("choices", 2500, (random) => {
    const choices = jsonOf(given, random) as typeof given;
    if (typeof choices !== "object" || choices === null) return false;
    const state = createState(manifest, choices);
    for (const [name, value] of Object.entries(choices)) {
      if (Object.hasOwn(given, name)) accept(state, name as keyof typeof given, value);
    }
    const { stack, layer, head } = state.shown;
    const shown = stack.value.layers.includes(layer.value) && head.value < layer.value.heads;
    if (!shown || !(head.value >= 0)) throw TypeError();
    return state.error.value === null;
  });
});
