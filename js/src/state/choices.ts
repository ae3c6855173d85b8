/** The choices of the reader: the traits of `attnwidget/view_state/choices.py`. */

import * as check from "../basics/check.ts";

/** A choice: its default, and the check of a value from a page or a notebook. */
interface Choice<Value> {
  readonly value: Value;
  /** Checks the type only. Whether this record has the value is seen where it is used. */
  readonly check: check.Check;
}

/** A head by the number of its layer and its own. */
export type HeadPlace = readonly [layer: number, head: number];

/** Links from queries to keys, in heads of layers; null for all. */
export type Cut = readonly [
  queries: readonly number[] | null,
  keys: readonly number[] | null,
  layers: readonly number[] | null,
  heads: readonly number[] | null,
];

const MOST = 2 ** 20;
/** No list of heads, layers, tokens or neurons is longer than `MOST`. */
const checkIndices = check.list(check.integer(0), check.integer(0, MOST));

/** The first option is the default. */
const oneOf = <const Option extends string>(...options: readonly [Option, ...Option[]]) => ({
  value: options[0] as Option,
  check: check.oneOf(options),
  options,
});
const flag = (value: boolean): Choice<boolean> => ({ value, check: check.flag });
const pairs: Choice<readonly HeadPlace[]> = {
  value: [],
  check: check.list(check.list(check.integer(0), check.integer(2, 2)), check.integer(0, MOST)),
};
const links: Choice<readonly Cut[]> = {
  value: [],
  check: check.list(
    check.list(check.orNull(checkIndices), check.integer(4, 4)),
    check.integer(0, MOST),
  ),
};
const text = (value: string): Choice<string> => ({ value, check: check.text() });
const index = (value: number): Choice<number> => ({ value, check: check.integer(0) });
const indexOrNull: Choice<number | null> = { value: null, check: check.orNull(check.integer(0)) };
const indices: Choice<readonly number[]> = { value: [], check: checkIndices };
const indicesOrNull: Choice<readonly number[] | null> = {
  value: null,
  check: check.orNull(checkIndices),
};

const namedSegments: Choice<readonly (readonly [start: number, end: number, name: string])[]> = {
  value: [],
  check: check.list(
    check.list(check.either(check.integer(0), check.text()), check.integer(3, 3)),
    check.integer(0, MOST),
  ),
};

/** By the names that they have in Python, where `AttentionWidget` says what each means. */
export const SCHEMA = {
  view: oneOf("head", "model", "neuron", "map"),
  /** The record's first, until another is chosen. */
  stack: text(""),
  /** The record of a comparison that is shown, or B − A. */
  compared: oneOf("a", "b", "difference"),
  layer: index(0),
  head: index(0),
  heads: indicesOrNull,
  query: indexOrNull,
  key: indexOrNull,
  /** Locked together with the query, or, without one, with the key. */
  also: indices,
  /** Segments of a text that the user names: first token, the one after the last, name. */
  named_segments: namedSegments,
  /** "all"; the texts of queries and keys of a pair, as "ab"; or "from:1-5" or "to:1-5". */
  segments: text("all"),
  combine: oneOf("none", "mean", "max", "layers_mean", "layers_max"),
  /** The name of a lens, see `LensInfo`. */
  lens: text("attention"),
  words: flag(false),
  arcs_shown: flag(true),
  orientation: oneOf("vertical", "horizontal"),
  picture: flag(true),
  thumbnails: oneOf("matrix", "lines"),
  /** "model", "pair" for the weight of the locked pair, or the name of a metric. */
  sort: text("model"),
  /** "pattern", "layer", or the name of a metric. */
  color: text("pattern"),
  opened: flag(false),
  /** True for a list of all heads in place of the model view's grid. */
  ranking: flag(false),
  include_layers: indicesOrNull,
  include_heads: indicesOrNull,
  neurons: oneOf("model", "pair", "sum"),
  muted: indices,
  /** The heads of this stack that are switched off. */
  off: pairs,
  /** The links of this stack that are cut. */
  cut: links,
  expanded: flag(true),
  /** The names of metrics; `map_x` may be "similarity", and `map_size` "none". */
  map_x: text("distance"),
  map_y: text("entropy"),
  map_size: text("none"),
  theme: oneOf("auto", "light", "dark"),
};

/** The value of `sort` for the weight of the locked pair of tokens. */
export const PAIR = "pair";

/** The value of `map_x` for places by the similarity of heads. */
export const SIMILARITY = "similarity";

/** The value of `map_size` for points of one size. */
export const NO_SIZE = "none";

type ChoiceName = keyof typeof SCHEMA;
export type Choices = { [Name in ChoiceName]: (typeof SCHEMA)[Name]["value"] };
export type ViewName = Choices["view"];
export type Segments = Choices["segments"];

export const CHOICES = Object.keys(SCHEMA) as readonly ChoiceName[];
export const VIEWS = SCHEMA.view.options;

/** The choices whose value is one of a few options. */
export type OptionName = {
  [Name in ChoiceName]: (typeof SCHEMA)[Name] extends { readonly options: unknown } ? Name : never;
}[ChoiceName];

/** @param stack the first one shown. */
export const defaults = (stack: string): Choices => ({
  ...(Object.fromEntries(CHOICES.map((name) => [name, SCHEMA[name].value])) as unknown as Choices),
  stack,
});

export interface Combination {
  readonly how: "mean" | "max";
  /** The heads that are drawn, or every head of all layers. */
  readonly over: "heads" | "layers";
}

const COMBINATIONS: Readonly<Record<Choices["combine"], Combination | null>> = {
  none: null,
  mean: { how: "mean", over: "heads" },
  max: { how: "max", over: "heads" },
  layers_mean: { how: "mean", over: "layers" },
  layers_max: { how: "max", over: "layers" },
};

/** The combination that a choice stands for; null for single heads. */
export const combination = (combine: Choices["combine"]) => COMBINATIONS[combine];
