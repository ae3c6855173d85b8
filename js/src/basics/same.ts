/** Equality of plain values, as choices and messages are. */

import { computed, type ReadonlySignal } from "@preact/signals-core";

/** True if two values are equal: numbers, texts and the like, and lists and records of them. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => same(a[name], b[name]));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** A computed signal whose watchers hear of values that differ, but not of equal ones. */
export function steady<Value>(compute: () => Value): ReadonlySignal<Value> {
  let last: Value | undefined;
  return computed(() => {
    const value = compute();
    if (!same(value, last)) last = value;
    return last as Value;
  });
}
