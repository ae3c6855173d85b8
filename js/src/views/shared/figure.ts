/** What a view adds to the figure of it. */

import type { Manifest, StackInfo } from "../../data/manifest.ts";
import type { ViewName } from "../../state/choices.ts";

export interface Figure {
  /** Of its file, without an ending. */
  readonly name: string;
  /** What the header says of it. */
  readonly heading: string;
  /** What the legend does not say: which part of a long text it is, and of what model. */
  readonly note: string;
  /** Whether only what is in sight is there. */
  readonly cropped: boolean;
}

/**
 * What the file is called: by what is drawn, which a choice may be ahead of.
 *
 * @param of the layer, as "layer-2", or what else the view is of.
 */
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
