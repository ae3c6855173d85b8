/** The contribution of a view to its figure. */

import type { Manifest, StackInfo } from "../../data/manifest.ts";
import type { ViewName } from "../../state/choices.ts";

export interface Figure {
  /** The name of the file, without an extension. */
  readonly name: string;
  /** The text above the view. */
  readonly heading: string;
  /** A note below the view: the visible part of a long text, and the model. */
  readonly note: string;
  /** True if the figure shows only the visible part. */
  readonly cropped: boolean;
}

/**
 * The name of the file, from what is drawn, which may lag behind the choices.
 *
 * @param of the layer, as "layer-2", or what else is drawn
 */
export function figureName(
  { stacks }: Manifest,
  view: ViewName,
  { name }: StackInfo,
  ...of: string[]
): string {
  const words = ["attention", view, ...(stacks.length > 1 ? [name] : []), ...of];
  // The name of a stack may have any characters.
  return words.join("-").replace(/[^\p{L}\p{N}]+/gu, "-");
}
