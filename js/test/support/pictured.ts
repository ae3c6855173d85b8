/** The record of the shared vectors as that of a vision model. */

import { RECORD } from "./vectors.ts";

/** 64 × 32 pixels, the left half red, the right one blue. */
export const IMAGE =
  "UklGRmQAAABXRUJQVlA4IFgAAAAQBQCdASpAACAAPm0wlEakIyIhLAgAgA2JYwDP2UF+AfiBpgPxJ/WbcQADpPsGgVkAAP7wmwDi7FPdymmBMFjUaZop98Nkwym4Ohl6bSxQxQeI1R9IAAAA";

export const LABELS = [
  "[CLS]",
  ...[0, 1].flatMap((row) => [0, 1, 2, 3].map((at) => `${row},${at}`)),
];
export const GRID = { rows: 2, columns: 4, image: 0, box: [0, 0, 1, 1], name: "" };
export const PATCHES = { grids: [GRID], of: [null, 0, 1, 2, 3, 4, 5, 6, 7], soft: false };

/** The whole image in four patches, and its left half, padded above, in three of four patches. */
export const CROPS = {
  grids: [
    { ...GRID, columns: 2, name: "whole" },
    { ...GRID, columns: 2, box: [0, -1, 0.5, 1], name: "crop 1" },
  ],
  of: [null, 0, 1, 2, 3, 4, 5, 6, null],
  soft: false,
};

type Changed = { images: unknown[]; stacks: { queries: object; keys: unknown }[] };

/** The shared record, its tokens on an image. */
export function pictured(image: unknown = IMAGE, patches: object = PATCHES) {
  const manifest = structuredClone(RECORD.manifest) as Changed;
  manifest.images = [image];
  const tokens = { labels: LABELS, segments: null, special: [0], words: null, patches };
  Object.assign(manifest.stacks[0], { queries: tokens, keys: null });
  return { ...RECORD, manifest };
}
