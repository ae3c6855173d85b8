/** Restores rounded queries and keys: mirrors `attnwidget/wire/compression/balanced.py`. */

import { workspace } from "../kernels/workspace.ts";
import { type Arrays, arrayOf, type NumberArray } from "./arrays.ts";

/** The exponents of the diagonals count quarters of an octave. */
const PER_OCTAVE = 4;

/** The arrays of a block, with rounded ones restored. */
export function unrounded(parts: Arrays): Arrays {
  const out = new Map(parts);
  for (const [name, steps] of [
    ["queries", "query_steps"],
    ["keys", "key_steps"],
  ]) {
    if (parts.has(steps)) out.set(name, multiplied(arrayOf(parts, name), arrayOf(parts, steps)));
    out.delete(steps);
  }
  if (parts.has("coefficients") && parts.has("steps")) {
    const { shape, values } = arrayOf(parts, "coefficients");
    const [steps, size] = [arrayOf(parts, "steps").values, shape[1] * shape[2]];
    out.set("coefficients", {
      shape,
      values: values.map((n, at) => n * steps[Math.floor(at / size)]),
    });
  }
  const step = parts.get("step")?.values[0];
  if (step === undefined) return out;
  for (const name of ["step", "inner", "outer", "turns"]) out.delete(name);
  const inner = parts.get("inner");
  if (!inner) return out.set("weights", squared(arrayOf(parts, "weights"), step));
  const [groups, dim] = inner.shape;
  const matrices = Array.from({ length: groups }, (_, group) => matrix(parts, group, dim));
  // The encoder multiplied queries by the matrix, and keys by its inverse transposed.
  const back = matrices.map((own) => transposed(inverse(own, dim), dim));
  out.set("queries", turned(arrayOf(parts, "queries"), back, step));
  out.set("keys", turned(arrayOf(parts, "keys"), matrices, step));
  return out;
}

/** Integers [heads, tokens, dim] times the steps of their components, [heads, dim]. */
function multiplied({ shape, values }: NumberArray, steps: NumberArray): NumberArray {
  const [, tokens, dim] = shape;
  const out = values.map(
    (value, n) => value * steps.values[Math.floor(n / (tokens * dim)) * dim + (n % dim)],
  );
  return { shape, values: out };
}

/** The weights [heads, queries, keys] of their roots' steps, [heads, keys, queries]. */
function squared({ shape: [heads, keys, queries], values }: NumberArray, step: number) {
  const out = new Float32Array(values.length);
  for (let at = 0, head = 0; head < heads; head++) {
    for (let query = 0; query < queries; query++) {
      for (let key = 0; key < keys; key++, at++) {
        out[at] = (values[(head * keys + key) * queries + query] * step) ** 2;
      }
    }
  }
  return { shape: [heads, queries, keys], values: out };
}

/** The matrix W of a group of heads, [dim, dim]. */
function matrix(parts: Arrays, group: number, dim: number): Float64Array {
  const inner = arrayOf(parts, "inner").values;
  const outer = parts.get("outer")?.values;
  const turns = parts.get("turns")?.values;
  const out = new Float64Array(dim * dim);
  for (let i = 0; i < dim; i++) {
    for (let j = 0; j < dim; j++) {
      const exponent = (outer ? outer[group * dim + i] : 0) + inner[group * dim + j];
      const turn = turns ? turns[(group * dim + i) * dim + j] : Number(i === j);
      out[i * dim + j] = turn * 2 ** (exponent / PER_OCTAVE);
    }
  }
  return out;
}

/** Coefficients [heads, dim, tokens] as vectors [heads, tokens, dim]. */
function turned(
  { shape: [heads, dim, tokens], values }: NumberArray,
  matrices: readonly Float64Array[],
  step: number,
): NumberArray {
  const size = dim * tokens;
  const { kernels, release } = workspace(2 * (size + dim * dim) + 11 * dim);
  const doubles = (count: number) => {
    const { buffer, byteOffset } = kernels.floats(2 * count);
    return new Float64Array(buffer, byteOffset, count);
  };
  const matrix = doubles(dim * dim);
  const work = doubles(4 * dim);
  const [from, to] = [kernels.floats(size), kernels.floats(size + 3 * dim)];
  const out = new Float32Array(values.length);
  for (let head = 0; head < heads; head++) {
    matrix.set(matrices[Math.floor((head * matrices.length) / heads)]);
    from.set(values.subarray(head * size, (head + 1) * size));
    kernels.turn(from, step, matrix, work, to);
    out.set(to.subarray(0, size), head * size);
  }
  release();
  return { shape: [heads, tokens, dim], values: out };
}

/** Invert a matrix by Gauss-Jordan elimination, with the largest pivot of each column. */
function inverse(matrix: Float64Array, dim: number): Float64Array {
  const width = 2 * dim;
  const rows = Array.from({ length: dim }, (_, i) => {
    const row = new Float64Array(width);
    row.set(matrix.subarray(i * dim, (i + 1) * dim));
    row[dim + i] = 1;
    return row;
  });
  for (let column = 0; column < dim; column++) {
    let pivot = column;
    for (let i = column + 1; i < dim; i++) {
      if (Math.abs(rows[i][column]) > Math.abs(rows[pivot][column])) pivot = i;
    }
    [rows[column], rows[pivot]] = [rows[pivot], rows[column]];
    const pivotRow = rows[column];
    const by = pivotRow[column];
    for (let n = column; n < width; n++) pivotRow[n] /= by;
    for (const row of rows) {
      const times = row[column];
      if (row === pivotRow || times === 0) continue;
      for (let n = column; n < width; n++) row[n] -= times * pivotRow[n];
    }
  }
  const out = new Float64Array(dim * dim);
  rows.forEach((row, i) => {
    out.set(row.subarray(dim), i * dim);
  });
  return out;
}

function transposed(matrix: Float64Array, dim: number): Float64Array {
  return matrix.map((_, at) => matrix[(at % dim) * dim + Math.floor(at / dim)]);
}
