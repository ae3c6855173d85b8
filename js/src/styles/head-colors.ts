/** One colour per head. Colour is never the only sign: every head has its number, too. */

import colors from "../../../attnwidget/colors.json";
import { luminance, mixed, rgb } from "./palette.ts";

/**
 * `few` is Tableau 10, adapted to a contrast of 3 with both backgrounds; more colours are as far apart
 * as possible in OKLab, with a contrast of 3.
 */
const { few: FEW, moreLight: MORE_LIGHT, moreDark: MORE_DARK } = colors.heads;

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
