/** The kinds of choices: a default, and the reader of a value from a page or a notebook. */

import * as read from "../basics/reader.ts";

/**
 * A kind of choice, by the reader of its values, which checks the type only: whether this record has
 * the value is seen where it is used.
 */
const kind =
  <Value>(reader: read.Reader<Value>) =>
  (value: Value) => ({ value, read: reader });

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

/** The first option is the default. */
export const oneOf = <const Option extends string>(...options: readonly [Option, ...Option[]]) => ({
  value: options[0] as Option,
  read: read.oneOf(options),
  options,
});
export const flag = kind(read.flag);
export const text = kind(read.text());

/** A reader of whole numbers or lists, or of null only where that is the default. */
const nullable =
  <Value>(reader: read.Reader<Value>) =>
  <Default extends Value | null>(value: Default) =>
    kind(value === null ? read.orNull(reader) : reader)(value) as {
      readonly value: Default extends null ? Value | null : Value;
      readonly read: read.Reader<Default extends null ? Value | null : Value>;
    };
export const index = nullable(aIndex);
export const indices = nullable(aList);

export const pairs = kind(listOf(headPlace));
export const links = kind(listOf(cut));
export const segments = kind(listOf(namedSegment));
