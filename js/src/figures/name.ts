/** What the file of a figure is called: by what is drawn, which a choice may be ahead of. */

import type { Manifest, StackInfo } from "../data/manifest.ts";
import type { ViewName } from "../state/choices.ts";

/** @param of the layer, as "layer-2", or what else the view is of. */
export function figureName(
  { stacks }: Manifest,
  view: ViewName,
  { name }: StackInfo,
  ...of: string[]
): string {
  const words = ["attention", view, ...(stacks.length > 1 ? [name] : []), ...of];
  // Stacks have names of any characters.
  return words.join("-").replace(/[^\p{L}\p{N}]+/gu, "-");
}
