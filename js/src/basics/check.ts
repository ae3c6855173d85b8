/** Checks of untrusted values, from which the types of these values are inferred. */

/** Returns null if a value is valid, else the path to what is wrong, as ".layers[3].heads". */
export interface Check<Value = unknown> {
  (value: unknown): string | null;
  /** Never set: it only carries the type. */
  readonly type?: Value;
}

/** The type of the values that a check finds valid. */
export type Checked<Of> = Of extends Check<infer Value> ? Value : never;

/** A check of a field that may be missing. */
interface Optional<Value> extends Check<Value> {
  readonly missing?: true;
}

type Fields<Checks> = {
  readonly [Name in keyof Checks as IsOptional<Checks[Name]> extends true ? never : Name]: Checked<
    Checks[Name]
  >;
} & {
  readonly [Name in keyof Checks as IsOptional<Checks[Name]> extends true ? Name : never]?: Checked<
    Checks[Name]
  >;
};
type IsOptional<Of> = "missing" extends keyof Of ? true : false;

const where =
  <Value>(right: (value: unknown) => boolean): Check<Value> =>
  (value) =>
    right(value) ? null : "";

const EXACT = Number.MAX_SAFE_INTEGER;

export const integer = (least: number, most = EXACT): Check<number> =>
  where((value) => Number.isInteger(value) && least <= Number(value) && Number(value) <= most);

export const exactly = (number: number): Check<number> => integer(number, number);

export const anything: Check = () => null;

export const number: Check<number> = where(Number.isFinite);

export const flag: Check<boolean> = where((value) => typeof value === "boolean");

/** Lengths are counted in characters, as Python does: one may be two UTF-16 units. */
export const text = (least = 0, most = Number.POSITIVE_INFINITY): Check<string> =>
  where(
    (value) =>
      typeof value === "string" &&
      least <= value.length &&
      (value.length <= most || (value.length <= 2 * most && [...value].length <= most)),
  );

export const oneOf = <const Value>(values: readonly Value[]): Check<Value> =>
  where((value) => values.includes(value as Value));

export const orNull =
  <Value>(check: Check<Value>): Check<Value | null> =>
  (value) =>
    value === null ? null : check(value);

/** The value may be missing. */
export const optional =
  <Value>(check: Check<Value>): Optional<Value> =>
  (value) =>
    value === undefined ? null : check(value);

export const either =
  <One, Other>(one: Check<One>, other: Check<Other>): Check<One | Other> =>
  (value) =>
    one(value) === null ? null : other(value);

/**
 * A check, and another one that depends on what the first has found valid.
 *
 * @param more returns a check of the same value, or its result
 */
export const also =
  <Value, More = unknown>(
    check: Check<Value>,
    more: (value: Value) => Check<More> | string | null,
  ): Check<Value & More> =>
  (value) => {
    const wrong = check(value);
    if (wrong !== null) return wrong;
    const next = more(value as Value);
    return typeof next === "function" ? next(value) : next;
  };

/**
 * @param check the check of an item, which also gets its index
 * @param counts the check of the length
 */
export const list =
  <Item>(
    check: Check<Item> | ((value: unknown, at: number) => string | null),
    counts: Check<number> = integer(0),
  ): Check<readonly Item[]> =>
  (value) => {
    if (!Array.isArray(value) || counts(value.length) !== null) return "";
    for (let at = 0; at < value.length; at++) {
      const wrong = check(value[at], at);
      if (wrong !== null) return `[${at}]${wrong}`;
    }
    return null;
  };

/** A list of as many items as there are checks. */
export const tuple = <const Items extends readonly Check[]>(...items: Items) =>
  list((value, at) => items[at](value), exactly(items.length)) as Check<unknown> as Check<{
    readonly [At in keyof Items]: Checked<Items[At]>;
  }>;

export const fields =
  <Checks extends Readonly<Record<string, Check>>>(checks: Checks): Check<Fields<Checks>> =>
  (value) => {
    if (typeof value !== "object" || value === null) return "";
    for (const [name, check] of Object.entries(checks)) {
      const wrong = check((value as Record<string, unknown>)[name]);
      if (wrong !== null) return `.${name}${wrong}`;
    }
    return null;
  };

/** The values of a record, whatever their names. */
export const record =
  <Value>(check: Check<Value>): Check<Readonly<Record<string, Value>>> =>
  (value) =>
    fields(Object.fromEntries(Object.keys(Object(value)).map((name) => [name, check])))(value);
