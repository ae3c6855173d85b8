/** The interface of a lens whose numbers are computed here. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import type { RecordLayer } from "../data/layer.ts";
import type { LayerInfo, LensInfo } from "../data/manifest.ts";

export interface BrowserLens {
  /** The name by which `attnwidget/analysis/lenses` lists it. */
  readonly name: string;
  /** The reason why a layer lacks it here, though its record may have it; null if it has it. */
  lacks?(layer: LayerInfo): { readonly brief: string; readonly sentence: string } | null;
  /**
   * The numbers of a head; null where a layer of one record lacks what they are computed from.
   *
   * @param segments the queries and keys of its overview, as in `Choices`
   */
  matrix(
    lens: LensInfo,
    layer: RecordLayer,
    head: number,
    segments: string,
  ): AttentionMatrix | null;
}
