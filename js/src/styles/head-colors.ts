/** One colour per head. Colour is never the only sign: every head has its number, too. */

import { luminance, mixed, rgb } from "./palette.ts";

/** Tableau 10, adapted to a contrast of 3 with both backgrounds. */
const FEW: readonly string[] = [
  ...["#4e79a7", "#d9760f", "#59a14f", "#e15759", "#3e989d", "#b08b18"],
  ...["#b07aa1", "#e8607a", "#9c755f", "#79706e", "#6d8bf0", "#329f7f"],
];

/** More colours, as far apart as possible in OKLab, with a contrast of 3. */
const MORE_LIGHT: readonly string[] = [
  ...["#002400", "#0c009c", "#6c0048", "#006000", "#9030c0", "#a81800", "#304860"],
  ...["#3048d8", "#c00078", "#241848", "#c060f0", "#603000", "#542490", "#48000c"],
  ...["#843c6c", "#607800", "#845400", "#186c60", "#e448b4", "#48549c"],
];
const MORE_DARK: readonly string[] = [
  ...["#c0f0f0", "#a8e400", "#fca8fc", "#fcc06c", "#00ccfc", "#9c48d8", "#00d89c"],
  ...["#a8b4a8", "#cc78fc", "#cc309c", "#fc9c9c", "#006cf0", "#008400", "#a8b4fc"],
  ...["#78fcb4", "#c0b400", "#fce424", "#60c000", "#fccccc", "#fc6ccc"],
];

const DISTINCT = FEW.length + MORE_LIGHT.length;

/** The share of the text colour in the last head of a family. */
const FAMILY_RANGE = 0.45;

/** A colour per head of a layer; with more than 32 heads, neighbours are shades of one colour. */
export function headColors(count: number, dark: boolean): readonly string[] {
  if (count <= DISTINCT) return [...FEW, ...(dark ? MORE_DARK : MORE_LIGHT)].slice(0, count);
  const size = Math.ceil(count / FEW.length);
  const end = dark ? "#ffffff" : "#000000";
  return Array.from({ length: count }, (_, head) =>
    mixed(FEW[Math.floor(head / size)], end, (FAMILY_RANGE * (head % size)) / (size - 1)),
  );
}

/** Black or white, whichever reads better on this colour. */
export const textOn = (color: string) => (luminance(rgb(color)) > 0.179 ? "#000000" : "#ffffff");
