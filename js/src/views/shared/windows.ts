/** The scrolling of the columns of a long text. */

import { untracked } from "@preact/signals-core";
import { NAMES } from "../../parts/tokens.ts";
import { type ListWindow, listWindow } from "../../parts/track.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { lockedOn, otherSide } from "../../state/locks.ts";
import type { Side, State } from "../../state/state.ts";
import { type Axes, onSought, placeAt, positionOf, sameColumns } from "./axes.ts";
import type { Column } from "./columns.ts";

/** The scroll window of each side; null for a column that does not scroll. */
export type Windows = Readonly<Record<Side, ListWindow | null>>;

const SIDES = ["query", "key"] as const;

export function windowsOf(
  scope: Scope,
  state: State,
  axes: Axes,
  columns: Readonly<Record<Side, Column>>,
  length: number,
  horizontal: boolean,
): Windows {
  const together = sameColumns(axes);
  const windowOn = (side: Side): ListWindow | null => {
    const { long, labels: track } = columns[side];
    if (!long) return null;
    const other = otherSide(side);
    /** Scroll the other column of the same text along, unless it has a locked token. */
    const scrolled = (by: number) => {
      const window = windows[other];
      if (together && window && state[other].peek() === null)
        window.scrollTo(window.start.peek() + by);
    };
    return listWindow({ track, length, horizontal, scrolled });
  };
  const windows: Windows = { query: windowOn("query"), key: windowOn("key") };
  for (const side of SIDES) {
    const [window, axis, { labels }] = [windows[side], axes[side], columns[side]];
    if (!window) continue;
    const centre = (at: number) => window.scrollTo(labels.middle(at) - length / 2);
    // Start where the previous column was scrolled to, or at the locked token.
    const before = state.begin[side];
    const begin = placeAt(axis, before && Math.floor(before));
    const locked = placeAt(axis, untracked(() => lockedOn(state, side))[0] ?? null);
    if (before !== null && begin >= 0)
      window.scrollTo(labels.start(begin) + (before % 1) * labels.size(begin));
    else if (locked >= 0) centre(locked);
    scope.effect(() => {
      const start = window.start.value;
      const at = labels.at(start);
      const into = Math.min(0.99, (start - labels.start(at)) / labels.size(at));
      state.begin[side] = positionOf(axis, axis.shown[at]) + into;
    });
    onSought(scope, state, (place) => {
      const at = placeAt(axis, place[side]);
      if (at < 0) return;
      const [first, end] = window.sight.value;
      if (place.query === null || place.key === null) window.reveal(at);
      // Both sides of a pair are centred.
      else if (at <= first || at >= end - 1) centre(at);
    });
  }
  return windows;
}

/** The range of visible labels of each side that scrolls; "" if none does. */
export function namesInSight(windows: Windows, axes: Axes): string {
  const ranges = SIDES.flatMap((side) => {
    const [window, { shown, units }] = [windows[side], axes[side]];
    if (!window) return [];
    const [first, end] = window.sight.value;
    return [
      [NAMES[side].toLowerCase(), `${shown[first]}–${shown[end - 1]} of ${units.labels.length}`],
    ];
  });
  if (ranges.length === 2 && ranges[0][1] === ranges[1][1])
    ranges.splice(0, 2, ["tokens", ranges[0][1]]);
  return ranges.map(([side, range]) => `${side} ${range} are named`).join(", ");
}
