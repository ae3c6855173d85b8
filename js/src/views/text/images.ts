/** The images and videos of a prompt: each is a part of it, as a sentence is. */

import { gridOf, type Manifest, type RunningText, type Tokens } from "../../data/manifest.ts";
import type { Numbered } from "../shared/picture/chooser.ts";

export type PromptImage = ReturnType<typeof imagesOf>[number];

export function imagesOf(manifest: Manifest, { sentences }: RunningText, tokens: Tokens) {
  const { patches } = tokens;
  if (!patches) return [];
  const found = sentences.filter(([start]) => patches.on[start] >= 0);
  return found.map(([start, end]) => {
    const own = patches.grids[patches.on[start]];
    const named = /^image \d+/.exec(own.name)?.[0];
    const name = own.name.startsWith("frame")
      ? `video${own.name.split(" of video")[1] ?? ""}`
      : (named ?? (found.length > 1 ? `image ${own.image + 1}` : "image"));
    const inside = new Set(patches.on.slice(start, end));
    /** Its grids of patches, those of a video by frame; none where the record lacks the image. */
    const grids = patches.grids.flatMap((_, at): readonly Numbered[] => {
      const grid = inside.has(at) && gridOf(manifest, tokens, at);
      // Among several images, each is named before its crops.
      return grid
        ? [{ at, grid: { ...grid, name: grid.name.replace(/^image \d+(, |$)/, "") } }]
        : [];
    });
    return { name, start, end, grids };
  });
}

/** The place of a token on one of several images in words; "" for one without a place. */
export function placeOf(images: readonly PromptImage[], token: number): string {
  for (const { name, grids } of images) {
    for (const { grid } of grids) {
      const patch = grid.of[token];
      if (patch == null) continue;
      const where = [images.length > 1 || !grid.name ? name : "", grid.name].filter(Boolean);
      return `${where.join(", ")} ${Math.floor(patch / grid.columns)},${patch % grid.columns}`;
    }
  }
  return "";
}
