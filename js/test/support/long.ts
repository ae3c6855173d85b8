/**
 * A record of a long text, in which every token gives half of its attention to itself and half to
 * the first.
 */

import type { Block } from "../../src/data/codec.ts";
import type { Source } from "../../src/data/store.ts";
import { type App, type AppOptions, mountApp } from "./mounted.ts";
import { RECORD, type SentRecord, withStacks } from "./vectors.ts";

/** The strongest links between different tokens, except to the first, strongest first. */
export const LINKS = [
  [100, 300, 0.97],
  [380, 20, 0.95],
  [60, 61, 0.9],
] as const;

const HEADS = 2;
const CELLS = 32;

type Layers = { stacks: { layers: { heads: number }[] }[] };

function recordOf(tokens: number, label: (at: number) => string): SentRecord {
  const weightsOnly = (RECORD.manifest as Layers).stacks[0].layers[1];
  const labels = Array.from({ length: tokens }, (_, at) => label(at));
  const stack = {
    name: "self",
    queries: { labels, segments: null, special: [], words: null },
    keys: null,
    layers: [0, 1].map((number) => ({ ...weightsOnly, number })),
  };
  const manifest = withStacks([stack]);
  const overview = btoa("\0".repeat((2 * HEADS * CELLS ** 2) / 2));
  return { manifest, overview, levels: [], blocks: {} };
}

function blockOf(tokens: number): Block {
  const weights = new Float32Array(HEADS * tokens * tokens);
  const set = (head: number, query: number, key: number, weight: number) => {
    weights[(head * tokens + query) * tokens + key] = weight;
  };
  for (let head = 0; head < HEADS; head++) {
    for (let query = 0; query < tokens; query++) {
      set(head, query, query, 0.5);
      set(head, query, 0, 0.5);
    }
  }
  for (const [query, key, weight] of LINKS) {
    set(0, query, query, (1 - weight) / 2);
    set(0, query, 0, (1 - weight) / 2);
    set(0, query, key, weight);
  }
  const part = { name: "weights", dtype: "f32", shape: [HEADS, tokens, tokens] } as const;
  return { parts: [part], buffers: [new Uint8Array(weights.buffer)] };
}

export function mountLong(
  tokens = 400,
  options: AppOptions = {},
  label = (at: number) => `t${at}`,
): Promise<App> {
  const source: Source = { block: async () => blockOf(tokens) };
  return mountApp({ record: recordOf(tokens, label), source, ...options });
}
