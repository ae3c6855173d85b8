/** A listbox of a text's tokens in a column, bound to the state. */

import { computed } from "@preact/signals-core";
import type { Tokens } from "../data/manifest.ts";
import type { Scope } from "../scheduling/scope.ts";
import { lockedOn } from "../state/locks.ts";
import type { Side, State } from "../state/state.ts";
import { matches } from "./find.ts";
import { tokenNames } from "./text.ts";
import { type TokenListOptions, tokenList } from "./token-list.ts";
import { uniformTrack } from "./track.ts";

/** One object, so that a list without focus is not updated while the other one is hovered. */
const NONE: readonly number[] = [];

type ListOptions = "side" | "range" | "reveal" | "palette" | "emphasis" | "toggle";

export interface TokenColumnOptions extends Pick<TokenListOptions, ListOptions> {
  readonly tokens: Tokens;
  readonly state: State;
  /** The height of a row and the width of the column, in CSS pixels. */
  readonly rowHeight: number;
  readonly width: number;
  /** The positions shown, from top to bottom. */
  readonly positions: readonly number[];
}

/** The height of a row in CSS pixels: lower for long texts. */
export const rowHeight = (tokens: number, lowest = 16) =>
  Math.max(lowest, Math.min(28, Math.floor(720 / tokens)));

export const tokenFontSize = (rowHeight: number) => Math.min(14, rowHeight * 0.75);

export function tokenColumn(scope: Scope, options: TokenColumnOptions): HTMLElement {
  const { side, tokens, state, positions, rowHeight } = options;
  const fontSize = tokenFontSize(rowHeight);
  const shown = new Set(positions);
  return tokenList(scope, {
    ...options,
    labels: tokens.labels,
    names: tokenNames(tokens),
    special: tokens.special,
    generated: tokens.generated ?? null,
    shown: positions,
    position: (index) => index,
    horizontal: false,
    track: uniformTrack(positions.length, rowHeight),
    across: options.width,
    fontSize,
    focused: computed(() => {
      const at = state.focus.value[side];
      return at !== null && shown.has(at) ? [at] : NONE;
    }),
    locked: computed(() => lockedOn(state, side)),
    found: computed(() => matches(tokens.labels, state.find.value)),
    pointAt(index) {
      state.hover.value = index === null ? null : { query: null, key: null, [side]: index };
    },
    cursor: cursorOf(state, side),
  });
}

/** The legend of generated tokens; "" if there are none. */
export const generatedLegend = (...sides: readonly Tokens[]): string =>
  sides.some(({ generated }) => typeof generated === "number") ? "underlined: generated" : "";

/** The position of the keyboard in one column. */
export function cursorOf(state: State, side: Side): { at: number } {
  return {
    get at() {
      return state.cursor[side];
    },
    set at(position) {
      state.cursor[side] = position;
    },
  };
}
