/** Numbers by name: what a block is when it is read. */

/** Numbers in C order. */
export interface NumberArray {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

export type Arrays = ReadonlyMap<string, NumberArray>;

/** The bytes that they take. */
export const bytesIn = (arrays: Arrays): number =>
  [...arrays.values()].reduce((sum, { values }) => sum + values.byteLength, 0);
