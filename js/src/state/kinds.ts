/** The kinds of choices: a default, and the check of a value from a page or a notebook. */

import * as check from "../basics/check.ts";

interface Choice<Value> {
  readonly value: Value;
  /** Checks the type only. Whether this record has the value is seen where it is used. */
  readonly check: check.Check<Value>;
}

/** No list of heads, layers, tokens or neurons is longer than this. */
const MOST = 2 ** 20;
const listOf = <Item>(item: check.Check<Item>) => check.list(item, check.integer(0, MOST));
const aIndex = check.integer(0);
const aList = listOf(aIndex);
const allOrList = check.orNull(aList);

/** A head by the number of its layer and its own. */
const headPlace = check.tuple(aIndex, aIndex);
/** Links from queries to keys, in heads of layers; null for all. */
const cut = check.tuple(allOrList, allOrList, allOrList, allOrList);
/** A segment of a text: the first token, the one after the last, and a name. */
const namedSegment = check.tuple(aIndex, aIndex, check.text());

export type HeadPlace = check.Checked<typeof headPlace>;
export type Cut = check.Checked<typeof cut>;
type NamedSegment = check.Checked<typeof namedSegment>;

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
  check: listOf(headPlace),
});
export const links = (value: readonly Cut[]): Choice<readonly Cut[]> => ({
  value,
  check: listOf(cut),
});
export const segments = (value: readonly NamedSegment[]): Choice<readonly NamedSegment[]> => ({
  value,
  check: listOf(namedSegment),
});
