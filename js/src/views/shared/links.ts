/** Finds the strongest links of a matrix, a few rows at a time. */

import { type AttentionMatrix, strengthOf } from "../../data/attention-matrix.ts";
import { inSlices } from "../../scheduling/slices.ts";
import { type Axes, type Axis, sameText } from "./axes.ts";

export interface Link {
  readonly query: number;
  readonly key: number;
  /** May be negative for scores, and is for a difference that is less in B. */
  readonly weight: number;
}

/** The number of links to find. */
export const LIMIT = 50;

/**
 * Find the strongest links between the units shown, except those that most heads have: to the unit
 * itself, to the first unit, and from or to special tokens. Returns a function that stops it.
 *
 * @param report called with the share done, 0 to 1; at 1 with the links, strongest first
 * @param limit the number of links
 * @param all true to find also those that most heads have
 */
export function strongestLinks(
  matrix: AttentionMatrix,
  axes: Axes,
  report: (done: number, links: readonly Link[]) => void,
  { limit = LIMIT, all = false } = {},
): () => void {
  const links: Link[] = [];
  // The number of no link: a masked key, or a weight of zero.
  const none = matrix.difference || matrix.lens.adds_up ? 0 : Number.NEGATIVE_INFINITY;
  const searched = ({ shown, units }: Axis) => {
    const special = new Set(all ? [] : units.special);
    return shown.filter((unit) => !special.has(unit));
  };
  const rows = searched(axes.query);
  // Heads with nothing to attend to attend to the first token, unless it belongs to another text.
  const same = !all && sameText(axes);
  const columns = searched(axes.key).filter((key) => !same || key > 0);
  const gather = (at: number) => {
    const query = rows[at];
    const weights = matrix.row(query);
    for (const key of columns) {
      const weight = weights[key];
      const strength = strengthOf(matrix, weight);
      const least = links.length < limit ? none : strengthOf(matrix, links[limit - 1].weight);
      if (strength <= least || (same && key === query)) continue;
      let place = links.length;
      while (place > 0 && strengthOf(matrix, links[place - 1].weight) < strength) place--;
      links.splice(place, 0, { query, key, weight });
      if (links.length > limit) links.pop();
    }
    report((at + 1) / rows.length, links);
  };
  if (!rows.length) report(1, links);
  return inSlices(rows.length, gather);
}
