/** The images of a prompt: each is a part of it, as a sentence is. */

import { gridOf, type Manifest, type RunningText, type Tokens } from "../../data/manifest.ts";
import type { Numbered } from "../shared/picture/chooser.ts";

export interface PromptImage {
  readonly name: string;
  /** Its tokens. */
  readonly start: number;
  readonly end: number;
  /** Its grids of patches; none where the record lacks the image. */
  readonly grids: readonly Numbered[];
}

export function imagesOf(
  manifest: Manifest,
  { sentences }: RunningText,
  tokens: Tokens,
): readonly PromptImage[] {
  const { patches } = tokens;
  if (!patches) return [];
  const of = (at: number) => patches.grids[at]?.image;
  const found = sentences.filter(([start]) => patches.on[start] >= 0);
  return found.map(([start, end]) => {
    const image = of(patches.on[start]);
    const grids = patches.grids.flatMap((_, at) => {
      const grid = of(at) === image && gridOf(manifest, tokens, at);
      return grid ? [{ at, grid }] : [];
    });
    return { name: found.length > 1 ? `image ${image + 1}` : "image", start, end, grids };
  });
}

/** The place of one of its tokens in words; "" for a token without one, as a line break. */
export function placeOn({ name, grids }: PromptImage, token: number): string {
  const found = grids.find(({ grid }) => grid.of[token] !== null);
  const patch = found?.grid.of[token];
  if (!found || patch == null) return "";
  const { name: own, columns } = found.grid;
  return `${own || name} ${Math.floor(patch / columns)},${patch % columns}`;
}
