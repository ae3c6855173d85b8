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
