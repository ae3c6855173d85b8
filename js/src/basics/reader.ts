/** Readers of untrusted values: each checks a value and returns it, and its type follows. */

/** Throws `Invalid` for a value that is not valid. */
export type Reader<Value> = (value: unknown) => Value;

/** The type of the values that a reader returns. */
export type Read<Of> = Of extends Reader<infer Value> ? Value : never;

export class Invalid extends Error {
  /** @param path to what is wrong, as ".layers[3].heads" */
  constructor(readonly path = "") {
    super(`The value${path} is not valid.`);
  }
}

/**
 * Read a value, or throw an error for the reader of the page.
 *
 * @param what names the value, as "its content"
 */
export function valid<Value>(what: string, read: Reader<Value>, value: unknown): Value {
  try {
    return read(value);
  } catch (error) {
    throw error instanceof Invalid ? new Error(`${what}${error.path} is not valid.`) : error;
  }
}

export function isValid(read: Reader<unknown>, value: unknown): boolean {
  try {
    read(value);
    return true;
  } catch {
    return false;
  }
}

/** An error in a part of a value, whose path begins with the place of the part. */
const within = (place: string, error: unknown) =>
  error instanceof Invalid ? new Invalid(place + error.path) : error;

/** @param wrong returns the path to what is wrong with a value, or null */
export const where =
  <Value>(read: Reader<Value>, wrong: (value: Value) => string | null): Reader<Value> =>
  (value) => {
    const valid = read(value);
    const path = wrong(valid);
    if (path !== null) throw new Invalid(path);
    return valid;
  };

const only = <Value>(right: (value: unknown) => boolean): Reader<Value> =>
  where(
    (value) => value as Value,
    (value) => (right(value) ? null : ""),
  );

const EXACT = Number.MAX_SAFE_INTEGER;

export const integer = (least: number, most = EXACT): Reader<number> =>
  only((value) => Number.isInteger(value) && least <= Number(value) && Number(value) <= most);

export const exactly = (number: number): Reader<number> => integer(number, number);

export const anything: Reader<unknown> = (value) => value;

export const number: Reader<number> = only(Number.isFinite);

export const flag: Reader<boolean> = only((value) => typeof value === "boolean");

/** Lengths are counted in characters, as Python does: one may be two UTF-16 units. */
export const text = (least = 0, most = Number.POSITIVE_INFINITY): Reader<string> =>
  only(
    (value) =>
      typeof value === "string" &&
      least <= value.length &&
      (value.length <= most || (value.length <= 2 * most && [...value].length <= most)),
  );

export const oneOf = <const Value>(values: readonly Value[]): Reader<Value> =>
  only((value) => values.includes(value as Value));

export const orNull =
  <Value>(read: Reader<Value>): Reader<Value | null> =>
  (value) =>
    value === null ? null : read(value);

/** The value may be missing. */
export const optional =
  <Value>(read: Reader<Value>): Reader<Value | undefined> =>
  (value) =>
    value === undefined ? value : read(value);

/** Null if the value is missing, too. */
export const maybe =
  <Value>(read: Reader<Value>): Reader<Value | null> =>
  (value) =>
    orNull(read)(value ?? null);

export const either =
  <One, Other>(one: Reader<One>, other: Reader<Other>): Reader<One | Other> =>
  (value) => {
    try {
      return one(value);
    } catch {
      return other(value);
    }
  };

/** A value that is used in another form than it was sent. */
export const as =
  <Value, Result>(read: Reader<Value>, convert: (value: Value) => Result): Reader<Result> =>
  (value) =>
    convert(read(value));

/** A value of which more is read, as what was read first says. */
export const also =
  <Value, More>(read: Reader<Value>, more: (value: Value) => Reader<More>): Reader<Value & More> =>
  (value) => {
    const first = read(value);
    return more(first)(first) as Value & More;
  };

/**
 * @param read the reader of an item, which also gets its index
 * @param counts the reader of the length
 */
export const list =
  <Item>(
    read: (value: unknown, at: number) => Item,
    counts: Reader<number> = integer(0),
  ): Reader<readonly Item[]> =>
  (value) => {
    if (!Array.isArray(value)) throw new Invalid();
    counts(value.length);
    const items: Item[] = [];
    try {
      for (const item of value) items.push(read(item, items.length));
    } catch (error) {
      throw within(`[${items.length}]`, error);
    }
    return items;
  };

/** A list of as many items as there are readers. */
export const tuple = <const Items extends readonly Reader<unknown>[]>(...items: Items) =>
  list((value, at) => items[at](value), exactly(items.length)) as Reader<unknown> as Reader<{
    readonly [At in keyof Items]: Read<Items[At]>;
  }>;

type Readers = Readonly<Record<string, Reader<unknown>>>;
type Fields<Of extends Readers> = {
  readonly [Name in keyof Of as undefined extends Read<Of[Name]> ? never : Name]: Read<Of[Name]>;
} & {
  readonly [Name in keyof Of as undefined extends Read<Of[Name]> ? Name : never]?: Read<Of[Name]>;
};

/** An object with these fields; others are kept as they are. */
export const fields =
  <Of extends Readers>(readers: Of): Reader<Fields<Of>> =>
  (value) => {
    if (typeof value !== "object" || value === null) throw new Invalid();
    const out: Record<string, unknown> = { ...value };
    for (const [name, read] of Object.entries(readers)) {
      try {
        out[name] = read(out[name]);
      } catch (error) {
        throw within(`.${name}`, error);
      }
    }
    return out as Fields<Of>;
  };

/** The values of an object, whatever their names. */
export const record =
  <Value>(read: Reader<Value>): Reader<Readonly<Record<string, Value>>> =>
  (value) =>
    fields(Object.fromEntries(Object.keys(Object(value)).map((name) => [name, read])))(value);
