/** The kinds of choices: a default, and the reader of a value from a page or a notebook. */

import * as read from "../basics/reader.ts";

interface Choice<Value> {
  readonly value: Value;
  /** Checks the type only. Whether this record has the value is seen where it is used. */
  readonly read: read.Reader<Value>;
}

/** No list of heads, layers, tokens or neurons is longer than this. */
const MOST = 2 ** 20;
const listOf = <Item>(item: read.Reader<Item>) => read.list(item, read.integer(0, MOST));
const aIndex = read.integer(0);
const aList = listOf(aIndex);
const allOrList = read.orNull(aList);

/** A head by the number of its layer and its own. */
const headPlace = read.tuple(aIndex, aIndex);
/** Links from queries to keys, in heads of layers; null for all. */
const cut = read.tuple(allOrList, allOrList, allOrList, allOrList);
/** A segment of a text: the first token, the one after the last, and a name. */
const namedSegment = read.tuple(aIndex, aIndex, read.text());

export type HeadPlace = read.Read<typeof headPlace>;
export type Cut = read.Read<typeof cut>;
type NamedSegment = read.Read<typeof namedSegment>;

/** The first option is the default. */
export const oneOf = <const Option extends string>(...options: readonly [Option, ...Option[]]) => ({
  value: options[0] as Option,
  read: read.oneOf(options),
  options,
});
export const flag = (value: boolean): Choice<boolean> => ({ value, read: read.flag });
export const text = (value: string): Choice<string> => ({ value, read: read.text() });

/** A whole number; null only where that is the default. */
export const index = <Value extends number | null>(value: Value) =>
  ({ value, read: value === null ? read.orNull(aIndex) : aIndex }) as Choice<
    Value extends null ? number | null : number
  >;

/** Whole numbers; null only where that is the default. */
export const indices = <Value extends readonly number[] | null>(value: Value) =>
  ({ value, read: value === null ? read.orNull(aList) : aList }) as Choice<
    Value extends null ? readonly number[] | null : readonly number[]
  >;

export const pairs = (value: readonly HeadPlace[]): Choice<readonly HeadPlace[]> => ({
  value,
  read: listOf(headPlace),
});
export const links = (value: readonly Cut[]): Choice<readonly Cut[]> => ({
  value,
  read: listOf(cut),
});
export const segments = (value: readonly NamedSegment[]): Choice<readonly NamedSegment[]> => ({
  value,
  read: listOf(namedSegment),
});
