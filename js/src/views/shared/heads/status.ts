/** The status line of heads: the numbers of the focused tokens. */

import type { ReadonlySignal } from "@preact/signals-core";
import { type AttentionMatrix, roundingOfSum, strengthOf } from "../../../data/attention-matrix.ts";
import type { Layer } from "../../../data/layer.ts";
import {
  hint,
  inPair,
  joined,
  numberAt,
  numberOf,
  type Phrase,
  pair,
  quantity,
  strong,
  token,
} from "../../../parts/text.ts";
import { otherSide } from "../../../state/locks.ts";
import type { Side, State } from "../../../state/state.ts";
import { arcsCount, arcsPhrase, type DrawnArc } from "../arcs.ts";
import { type Axes, type Axis, type FocusedUnits, sideOf } from "../axes.ts";
import { suffixOf } from "./matrices.ts";

/** The content of a view of heads, from which its status line and tables follow. */
export interface HeadContent {
  readonly state: State;
  readonly data: Layer;
  readonly axes: Axes;
  /** "Layer 2", or "" if all layers are combined. */
  readonly layerLabel: string;
  readonly focused: ReadonlySignal<FocusedUnits>;
  /** The matrices drawn as lines, and the one drawn as a matrix. */
  readonly matrices: ReadonlySignal<readonly AttentionMatrix[]>;
  readonly matrix: ReadonlySignal<AttentionMatrix>;
  /** Annotated links, and whether the matrix finds them. */
  readonly arcs: ReadonlySignal<readonly DrawnArc[]>;
  /** The weights of the focused row or column, by drawn matrix. */
  readonly strips: ReadonlySignal<readonly Float32Array[] | null>;
}

/** The most names to list; more tokens are counted. */
const MOST_NAMES = 3;

export function headStatus(content: HeadContent): Phrase {
  const { state, axes, focused, matrices, matrix } = content;
  const side = sideOf(focused.value);
  const strips = content.strips.value;
  const arcs = content.arcs.value;
  if (!side) {
    const count = arcsCount(arcs, matrix.value.name);
    const found = count && `${joined(content.layerLabel, count)} · `;
    return [found, hint("Point at a token to see its attention; click to keep it.")];
  }
  const gold = arcsPhrase(arcs, axes, focused.value);
  const release = state.hover.value === null ? hint(" · Esc releases") : "";
  const { query, key } = focused.value;
  if (strips && query.length === 1 && key.length === 1) {
    return [
      `${joined(content.layerLabel, matrix.value.name)}  `,
      ...pair(inPair(axes.query.names[query[0]]), inPair(axes.key.names[key[0]])),
      ...pairNumbers(content, query[0], key[0]),
      ...gold,
      release,
    ];
  }
  const [axis, other] = [axes[side], axes[otherSide(side)]];
  if (!strips)
    return [
      `${content.layerLabel}  `,
      ...names(axis, focused.value[side]),
      ` ${missing(content, axis)}`,
    ];
  const single = matrices.value.length === 1;
  const [first, ...more] = focused.value[side];
  const headOf = (matrix: AttentionMatrix, unit: number) => {
    if (!single) return ` (head ${matrix.head})`;
    // A sum of maxima is of no head.
    if (more.length) return "";
    const [query, key] = side === "query" ? [first, unit] : [unit, first];
    return origin(matrix, query, key, side);
  };
  const [drawn] = matrices.value;
  return [
    `${joined(content.layerLabel, single ? drawn.name : suffixOf(drawn))}  `,
    ...names(axis, focused.value[side]),
    strong(side === "query" ? " →" : " ←"),
    ...strongest(strips, other.shown, drawn).flatMap(({ value, unit, matrix: at }, n) => {
      const matrix = matrices.value[at];
      const error = roundingOfSum(matrix, side, focused.value[side], unit);
      const name = token(other.names[unit]);
      const text = numberOf(drawn, value, error);
      return [n ? " · " : " ", name, ` ${text}${headOf(matrix, unit)}`];
    }),
    focused.value[side].length > 1 ? " (sums)" : "",
    ...gold,
    release,
  ];
}

/** The text in place of the numbers of the focused tokens while they are missing. */
function missing({ data, focused }: HeadContent, { side, units }: Axis): string {
  const positions = focused.value[side].flatMap((unit) => units.tokens[unit]);
  return positions.map((position) => data.pending(side, position)).find(Boolean) ?? "";
}

function names({ names, units: { tokens } }: Axis, units: readonly number[]): Phrase {
  const what = tokens.some(({ length }) => length > 1) ? "words" : "tokens";
  if (units.length > MOST_NAMES) return [strong(`${units.length} ${what}`)];
  const inOrder = [...units].sort((a, b) => a - b);
  return inOrder.flatMap((unit, n) => [n ? strong(" + ") : "", token(names[unit], true)]);
}

/** The head of a maximum, in brackets. */
function origin(matrix: AttentionMatrix, query: number, key: number, side: Side): string {
  const head = matrix.origin?.(query, key, side);
  return head ? ` (${head})` : "";
}

function pairNumbers({ data, axes, matrix }: HeadContent, query: number, key: number): string[] {
  const { value } = matrix;
  if (value.difference) {
    const [a, b] = (value.sides ?? []).map((side) => numberAt(side, query, key));
    return [
      ...(value.sides ? [` A ${a} · B ${b} ·`] : []),
      ` B − A ${numberAt(value, query, key)}`,
    ];
  }
  const [from, ...moreFrom] = axes.query.units.tokens[query];
  const [to, ...moreTo] = axes.key.units.tokens[key];
  const single = value.head !== null && !moreFrom.length && !moreTo.length;
  if (single && data.scoreRow(value.head, from)?.[to] === Number.NEGATIVE_INFINITY) {
    return [" masked: this query cannot see this key"];
  }
  const beside = value.beside?.(query, key) ?? [];
  return [
    ` ${value.lens.one} ${numberAt(value, query, key)}${origin(value, query, key, "query")}`,
    ...beside.map((each) => ` · ${quantity(each)}`),
  ];
}

/** The three strongest links between the focused and the shown units. */
function strongest(
  strips: readonly Float32Array[],
  shown: readonly number[],
  drawn: AttentionMatrix,
): readonly { value: number; unit: number; matrix: number }[] {
  let best: { value: number; unit: number; matrix: number }[] = [];
  const none = Number.NEGATIVE_INFINITY;
  let least = none;
  strips.forEach((weights, matrix) => {
    for (const unit of shown) {
      const value = weights[unit];
      const strength = strengthOf(drawn, value);
      // A masked key has none.
      if (strength === none || (strength <= least && best.length === 3)) continue;
      best = [...best, { value, unit, matrix }]
        .sort((a, b) => strengthOf(drawn, b.value) - strengthOf(drawn, a.value))
        .slice(0, 3);
      least = strengthOf(drawn, best[best.length - 1].value);
    }
  });
  return best;
}
