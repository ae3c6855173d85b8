/** The arrays of a block by name. */

/** An array in C order. */
export interface NumberArray {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

export type Arrays = ReadonlyMap<string, NumberArray>;

export const bytesIn = (arrays: Arrays): number =>
  [...arrays.values()].reduce((sum, { values }) => sum + values.byteLength, 0);

export function arrayOf(arrays: Arrays, name: string): NumberArray {
  const array = arrays.get(name);
  if (!array) throw new Error(`This layer has no ${name}.`);
  return array;
}

export const valuesOf = (arrays: Arrays, name: string) => arrayOf(arrays, name).values;
