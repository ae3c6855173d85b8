/** Words for layers and heads of A that are compared with others of B: "A 3 ↔ B 7". */

import type { Head, LayerInfo } from "./manifest.ts";

/** "3", or "A 3 ↔ B 7" where its heads are compared with those of one other layer. */
export function layerNumber({ number, partners }: LayerInfo): string {
  const [other = number, ...more] = layersOf(partners);
  return paired(number, more.length ? number : other);
}

/** "2", or "A 2 ↔ B 5"; "A 2 ↔ B 7-5" where a layer's heads have partners in several. */
export function headNumber(layer: LayerInfo, head: number): string {
  const partner = partnerOf({ layer, head });
  return paired(head, layersOf(layer.partners).length > 1 ? partner.join("-") : partner[1]);
}

/** True of a layer whose one map is of all its channels, which are in no heads. */
export const isWhole = ({ signed, heads }: LayerInfo) => signed === "contributions" && heads === 1;

/** "Head 2", or "All channels". */
export const headLabel = (layer: LayerInfo, head: number): string =>
  isWhole(layer) ? "All channels" : `Head ${headNumber(layer, head)}`;

/** The same within a sentence. */
export const headWords = (layer: LayerInfo, head: number): string =>
  headLabel(layer, head).replace(/^./, (letter) => letter.toLowerCase());

/** "head 3-2", or "all channels of layer 3". */
export const headAt = (layer: LayerInfo, head: number): string =>
  isWhole(layer) ? `all channels of layer ${layer.number}` : `head ${layer.number}-${head}`;

/** "3-2", or "A 3-2 ↔ B 7-2". */
export const headPlace = (at: Head): string =>
  paired(`${at.layer.number}-${at.head}`, partnerOf(at).join("-"));

/** The layer and head that a head is compared with: of a single record, its own. */
export const partnerOf = ({ layer, head }: Head): readonly [layer: number, head: number] =>
  layer.partners?.[head] ?? [layer.number, head];

const layersOf = (partners: LayerInfo["partners"]) => [
  ...new Set(partners?.map(([layer]) => layer)),
];

const paired = (own: number | string, other: number | string) =>
  own === other ? `${own}` : `A ${own} ↔ B ${other}`;
