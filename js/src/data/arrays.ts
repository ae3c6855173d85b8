/** The arrays of a block by name. */

/** An array in C order. */
export interface NumberArray {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

export type Arrays = ReadonlyMap<string, NumberArray>;

export const bytesIn = (arrays: Arrays): number =>
  [...arrays.values()].reduce((sum, { values }) => sum + values.byteLength, 0);
