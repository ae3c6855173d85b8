/** The names of heads on the map: "24-4" is head 4 of layer 24. */

import type { Head } from "../../data/manifest.ts";

export const shortName = ({ layer, head }: Head): string => `${layer.number}-${head}`;

/** The heads that share their keys with this one, as "18-3…18-5"; "" if none does. */
export function groupName({ layer, head }: Head): string {
  const size = layer.heads / layer.key_heads;
  if (size === 1) return "";
  const first = Math.floor(head / size) * size;
  return `${shortName({ layer, head: first })}…${shortName({ layer, head: first + size - 1 })}`;
}

export const sameHead = (a: Head | null, b: Head | null): boolean =>
  a === b || (a?.layer === b?.layer && a?.head === b?.head);
