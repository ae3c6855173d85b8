/** The sizes of the picture view's parts, in CSS pixels. */

import type { Size } from "../../shared/picture/places.ts";

/** The least width of the view with the list beside the pictures. */
const WIDE_FROM = 720;
const LIST = { least: 200, share: 0.23, most: 260 };
const QUERY = { share: 0.225, most: 252 };
const KEY = { share: 0.4, most: 450 };
/** The query's share of a narrow view, and the distance between the pictures there. */
const NARROW = { query: 0.36, gap: 28 };
/** The highest picture. */
const TALLEST = 520;
const MAP = { least: 76, most: 112, gap: 10 };

/** @param aspect the width of the pictures divided by their height */
export function layoutOf(width: number, aspect: number, heads: number) {
  const sized = (wanted: number): Size => {
    const across = Math.min(wanted, TALLEST * aspect);
    return { width: Math.round(across), height: Math.round(across / aspect) };
  };
  const wide = width >= WIDE_FROM;
  const inner = width - NARROW.gap;
  // Lines of equal lengths, as few as there can be.
  const fitting = Math.max(1, Math.floor((width + MAP.gap) / (MAP.least + MAP.gap)));
  const perLine = Math.ceil(heads / Math.ceil(heads / fitting));
  const across = Math.floor((width + MAP.gap) / perLine) - MAP.gap;
  return {
    query: sized(wide ? Math.min(QUERY.most, width * QUERY.share) : inner * NARROW.query),
    key: sized(
      wide ? Math.min(KEY.most, width * KEY.share) : Math.min(KEY.most, inner * (1 - NARROW.query)),
    ),
    /** The width of the list of the strongest keys. */
    list: wide ? Math.round(Math.min(LIST.most, Math.max(LIST.least, width * LIST.share))) : width,
    /** True if the list is beside the pictures, not below them. */
    wide,
    map: sized(Math.min(MAP.most, across)),
  };
}
