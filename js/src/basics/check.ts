/** Checks of untrusted data. Each returns the path to what is wrong, or null. */

/** Returns null if a value is valid, else the path to what is wrong, as ".layers[3].heads". */
export type Check = (value: unknown) => string | null;

const where =
  (right: (value: unknown) => boolean): Check =>
  (value) =>
    right(value) ? null : "";

const EXACT = Number.MAX_SAFE_INTEGER;

export const integer = (least: number, most = EXACT): Check =>
  where((value) => Number.isInteger(value) && least <= Number(value) && Number(value) <= most);

export const number: Check = where(Number.isFinite);

export const flag: Check = where((value) => typeof value === "boolean");

export const text = (least = 0, most = Number.POSITIVE_INFINITY): Check =>
  where((value) => typeof value === "string" && least <= value.length && value.length <= most);

export const oneOf = (values: readonly unknown[]): Check =>
  where((value) => values.includes(value));

export const orNull =
  (check: Check): Check =>
  (value) =>
    value === null ? null : check(value);

/** The value may be missing. */
export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? null : check(value);

export const either =
  (one: Check, other: Check): Check =>
  (value) =>
    one(value) === null ? null : other(value);

/**
 * @param check the check of an item, which also gets its index
 * @param counts the check of the length
 */
export const list =
  (check: (value: unknown, at: number) => string | null, counts: Check = integer(0)): Check =>
  (value) => {
    if (!Array.isArray(value) || counts(value.length) !== null) return "";
    for (let at = 0; at < value.length; at++) {
      const wrong = check(value[at], at);
      if (wrong !== null) return `[${at}]${wrong}`;
    }
    return null;
  };

export const fields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) => {
    if (typeof value !== "object" || value === null) return "";
    for (const [name, check] of Object.entries(checks)) {
      const wrong = check((value as Record<string, unknown>)[name]);
      if (wrong !== null) return `.${name}${wrong}`;
    }
    return null;
  };
