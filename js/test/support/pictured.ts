/** The record of the shared vectors as that of a vision model. */

import { RECORD } from "./vectors.ts";

/** 64 × 32 pixels, the left half red, the right one blue. */
export const IMAGE =
  "UklGRmQAAABXRUJQVlA4IFgAAAAQBQCdASpAACAAPm0wlEakIyIhLAgAgA2JYwDP2UF+AfiBpgPxJ/WbcQADpPsGgVkAAP7wmwDi7FPdymmBMFjUaZop98Nkwym4Ohl6bSxQxQeI1R9IAAAA";

export const LABELS = [
  "[CLS]",
  ...[0, 1].flatMap((row) => [0, 1, 2, 3].map((at) => `${row},${at}`)),
];
export const PATCHES = { rows: 2, columns: 4, of: [null, 0, 1, 2, 3, 4, 5, 6, 7] };

type Changed = { image: unknown; stacks: { queries: object; keys: unknown }[] };

/** The shared record, its tokens on an image. */
export function pictured(image: unknown = IMAGE, patches: object = PATCHES) {
  const manifest = structuredClone(RECORD.manifest) as Changed;
  manifest.image = image;
  const tokens = { labels: LABELS, segments: null, special: [0], words: null, patches };
  Object.assign(manifest.stacks[0], { queries: tokens, keys: null });
  return { ...RECORD, manifest };
}
