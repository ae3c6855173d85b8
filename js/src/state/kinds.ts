/** The kinds of choices: a default, and the check of a value from a page or a notebook. */

import * as check from "../basics/check.ts";

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

/** A segment of a text: the first token, the one after the last, and a name. */
export type NamedSegment = readonly [start: number, end: number, name: string];

/** No list of heads, layers, tokens or neurons is longer than this. */
const MOST = 2 ** 20;
const listOf = (item: check.Check) => check.list(item, check.integer(0, MOST));
/** A list of `count` items. */
const tuple = (count: number, item: check.Check) => check.list(item, check.integer(count, count));
const aIndex = check.integer(0);
const aList = listOf(aIndex);

/** The first option is the default. */
export const oneOf = <const Option extends string>(...options: readonly [Option, ...Option[]]) => ({
  value: options[0] as Option,
  check: check.oneOf(options),
  options,
});
export const flag = (value: boolean): Choice<boolean> => ({ value, check: check.flag });
export const text = (value: string): Choice<string> => ({ value, check: check.text() });

/** A whole number; null only where that is the default. */
export const index = <Value extends number | null>(value: Value) =>
  ({ value, check: value === null ? check.orNull(aIndex) : aIndex }) as Choice<
    Value extends null ? number | null : number
  >;

/** Whole numbers; null only where that is the default. */
export const indices = <Value extends readonly number[] | null>(value: Value) =>
  ({ value, check: value === null ? check.orNull(aList) : aList }) as Choice<
    Value extends null ? readonly number[] | null : readonly number[]
  >;

export const pairs = (value: readonly HeadPlace[]): Choice<readonly HeadPlace[]> => ({
  value,
  check: listOf(tuple(2, aIndex)),
});
export const links = (value: readonly Cut[]): Choice<readonly Cut[]> => ({
  value,
  check: listOf(tuple(4, check.orNull(aList))),
});
export const segments = (value: readonly NamedSegment[]): Choice<readonly NamedSegment[]> => ({
  value,
  check: listOf(tuple(3, check.either(aIndex, check.text()))),
});
