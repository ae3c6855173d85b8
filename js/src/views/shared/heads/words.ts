/** The words of heads: a status line with the numbers of the focused tokens, and tables to copy. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import {
  type AttentionMatrix,
  roundingOfSum,
  strengthOf,
  sumsOf,
} from "../../../data/attention-matrix.ts";
import type { Layer } from "../../../data/layer.ts";
import type { LayerData } from "../../../data/layer-data.ts";
import { isAttention } from "../../../data/manifest.ts";
import type { Table } from "../../../parts/table.ts";
import {
  hint,
  joined,
  numberAt,
  numberOf,
  type Phrase,
  pair,
  quantity,
  rounded,
  strong,
  token,
} from "../../../parts/text.ts";
import { otherSide } from "../../../state/locks.ts";
import type { Side, State } from "../../../state/state.ts";
import { arcsCount, arcsOf, arcsPhrase, type DrawnArc, drawnArcs, NO_ARCS } from "../arcs.ts";
import {
  type Axes,
  type Axis,
  type CutUnits,
  type FocusedUnits,
  focusedUnits,
  sideOf,
} from "../axes.ts";
import { shownCuts } from "../cuts.ts";
import { headIn } from "../layer-view.ts";
import { statusLine, tableOf } from "../words.ts";
import { stripsOf, suffixOf } from "./matrices.ts";

/** What a view of heads shows, from which its words follow. */
interface Content {
  readonly state: State;
  readonly data: Layer;
  readonly axes: Axes;
  readonly focused: ReadonlySignal<FocusedUnits>;
  /** The cut links of the head that is looked at. */
  readonly cuts: ReadonlySignal<readonly CutUnits[]>;
  /** "Layer 2", or "" if all layers are combined. */
  readonly layerLabel: string;
  /** The matrices drawn as lines, and the one drawn as a matrix. */
  readonly matrices: ReadonlySignal<readonly AttentionMatrix[]>;
  readonly matrix: ReadonlySignal<AttentionMatrix>;
  /** Annotated links, and whether the matrix finds them. */
  readonly arcs: ReadonlySignal<readonly DrawnArc[]>;
  /** The weights of the focused row or column, by drawn matrix. */
  readonly strips: ReadonlySignal<readonly Float32Array[] | null>;
}

export type HeadContent = ReturnType<typeof headContent>;

/** What a view of heads shows, with its status line and tables. */
export function headContent(
  state: State,
  shown: Pick<Content, "data" | "axes" | "layerLabel" | "matrices" | "matrix">,
  withArcs = true,
) {
  const { data, axes, matrices, matrix } = shown;
  const focused = focusedUnits(state, axes);
  const content: Content = {
    ...shown,
    state,
    focused,
    cuts: shownCuts(state, axes, () => [data.info.number, headIn(state, data)]),
    arcs: withArcs
      ? computed(() => {
          const arcs = state.arcs_shown.value ? arcsOf(state, data.stack.name) : [];
          return arcs.length ? drawnArcs(arcs, axes, matrix.value) : [];
        })
      : NO_ARCS,
    strips: stripsOf(matrices, focused),
  };
  return {
    ...content,
    status: computed(() => statusOf(content)),
    tables: computed(() => tablesOf(content)),
  };
}

const POINT = hint("Point at a token to see its attention; click to keep it.");

/** The most names to list; more tokens are counted. */
const MOST_NAMES = 3;

function statusOf(content: Content): Phrase {
  const { state, axes, layerLabel, focused, matrices, matrix } = content;
  const side = sideOf(focused.value);
  const strips = content.strips.value;
  const arcs = content.arcs.value;
  if (!side) {
    const count = arcsCount(arcs, matrix.value.name);
    const found = count && `${joined(layerLabel, count)} · `;
    return statusLine([found], [], [POINT]);
  }
  const release = state.hover.value === null ? hint(" · Esc releases") : "";
  const more = [...arcsPhrase(arcs, axes, focused.value), release];
  const { query, key } = focused.value;
  if (strips && query.length === 1 && key.length === 1) {
    const said = [
      `${joined(layerLabel, matrix.value.name)}  `,
      ...pair(axes.query.names[query[0]], axes.key.names[key[0]]),
      ...pairNumbers(content, query[0], key[0]),
    ];
    return statusLine(said, [], more);
  }
  const [axis, other] = [axes[side], axes[otherSide(side)]];
  const looking = names(axis, focused.value[side]);
  if (!strips) return statusLine([`${layerLabel}  `, ...looking, ` ${missing(content, axis)}`]);
  const single = matrices.value.length === 1;
  const [first, ...others] = focused.value[side];
  const headOf = (matrix: AttentionMatrix, unit: number) => {
    if (!single) return ` (head ${matrix.head})`;
    // A sum of maxima is of no head.
    if (others.length) return "";
    const [query, key] = side === "query" ? [first, unit] : [unit, first];
    return origin(matrix, query, key, side);
  };
  const [drawn] = matrices.value;
  const links = strongest(strips, other.shown, drawn).flatMap(({ value, unit, matrix: at }, n) => {
    const matrix = matrices.value[at];
    const error = roundingOfSum(matrix, side, focused.value[side], unit);
    const text = numberOf(drawn, value, error);
    return [n ? " · " : " ", token(other.names[unit]), ` ${text}${headOf(matrix, unit)}`];
  });
  const said = [
    `${joined(layerLabel, single ? drawn.name : suffixOf(drawn))}  `,
    ...looking,
    strong(side === "query" ? " →" : " ←"),
    ...links,
    others.length ? " (sums)" : "",
    ...(single && !others.length && side === "query" && isCoefficients(drawn)
      ? sumsOf(strips[0], drawn.rounding(first, 0)).map((sum) => ` · ${quantity(sum)}`)
      : []),
  ];
  return statusLine(said, [], more);
}

const isCoefficients = ({ lens, difference }: AttentionMatrix): boolean =>
  isAttention(lens) && lens.signed && !difference;

/** The text in place of the numbers of the focused tokens while they are missing. */
function missing({ data, focused }: Content, { side, units }: Axis): string {
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

function pairNumbers({ data, axes, matrix }: Content, query: number, key: number): string[] {
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
) {
  let best: { value: number; unit: number; matrix: number; strength: number }[] = [];
  strips.forEach((weights, matrix) => {
    for (const unit of shown) {
      const value = weights[unit];
      const strength = strengthOf(drawn, value);
      // A masked key has none.
      if (strength <= (best[2]?.strength ?? Number.NEGATIVE_INFINITY)) continue;
      best = [...best, { value, unit, matrix, strength }]
        .sort((a, b) => b.strength - a.strength)
        .slice(0, 3);
    }
  });
  return best;
}

/** The focused row or column of every drawn head, the matrix, and the vectors of a head. */
function tablesOf(content: Content): readonly Table[] {
  const { state, data, axes, matrix } = content;
  const whole: Table[] = [];
  // Only the focused row or column of a layer that is fetched row by row can be copied.
  if (data.whole || (data.stack.difference && !matrix.value.overview)) {
    whole.push(matrixTable(axes, matrix.value.row, matrix.value.rounding));
  }
  if (data.whole && data.info.dim !== null) {
    const head = headIn(state, data);
    // With combined heads, the vectors are those of the current head.
    const name = matrix.value.head === null ? `Vectors of head ${head}` : "Vectors";
    whole.push(vectorTable(name, data.whole, head));
  }
  const side = sideOf(content.focused.value);
  return side && content.strips.value ? [stripTable(content, side), ...whole] : whole;
}

/** The numbers between the focused units of a side and each of the other. */
function stripTable({ axes, matrices, strips, focused }: Content, side: Side): Table {
  const { units, shown, side: other } = axes[otherSide(side)];
  return tableOf(side === "query" ? "Row" : "Column", shown, () => [
    { name: other, of: (unit) => unit },
    { name: "token", of: (unit) => units.labels[unit] },
    ...(strips.value ?? []).map((strip, at) => ({
      name: matrices.value[at].name,
      of: (unit: number) =>
        rounded(strip[unit], roundingOfSum(matrices.value[at], side, focused.value[side], unit)),
    })),
  ]);
}

/** A matrix as a table, with tokens or words as headers. */
export const matrixTable = (
  { query, key }: Axes,
  row: (query: number) => Float32Array,
  rounding: (query: number, key: number) => number,
): Table => ({
  name: "Matrix",
  rows: () => [
    ["", ...key.shown.map((unit) => key.units.labels[unit])],
    ...query.shown.map((unit) => {
      const weights = row(unit);
      const cells = key.shown.map((to) => rounded(weights[to], rounding(unit, to)));
      return [query.units.labels[unit], ...cells];
    }),
  ],
});

/** The vectors of all queries and keys of a head. */
export function vectorTable(name: string, data: LayerData, head: number): Table {
  const { queries, keys } = data.stack;
  const cells = (vector: Float32Array | null) =>
    Array.from(vector ?? [], (value) => rounded(value, data.vectorRounding));
  const components = Array.from({ length: data.info.dim ?? 0 }, (_, n) => `n${n}`);
  return {
    name,
    rows: () => [
      ["side", "position", "token", ...components],
      ...queries.labels.map((label, i) => ["query", i, label, ...cells(data.query(head, i))]),
      ...keys.labels.map((label, j) => ["key", j, label, ...cells(data.key(head, j))]),
    ],
  };
}
