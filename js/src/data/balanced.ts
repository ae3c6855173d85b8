/** Queries and keys from rounded coefficients: mirrors `attnwidget/encoding/balanced.py`. */

import type { Arrays, NumberArray } from "./arrays.ts";

/** Exponents of the diagonals count quarters of an octave. */
const PER_OCTAVE = 4;

/** The parts of a block, with those that its "step" rounded as what they stand for. */
export function unrounded(parts: Arrays): Arrays {
  const step = parts.get("step")?.values[0];
  if (step === undefined) return parts;
  const out = new Map(parts);
  for (const name of ["step", "inner", "outer", "turns"]) out.delete(name);
  const inner = parts.get("inner");
  if (!inner) {
    const { shape, values } = part(parts, "weights");
    return out.set("weights", { shape, values: values.map((root) => (root * step) ** 2) });
  }
  const [groups, dim] = inner.shape;
  const matrices = Array.from({ length: groups }, (_, group) => matrix(parts, group, dim));
  // Queries were turned by the matrix, keys by its inverse transposed.
  const back = matrices.map((own) => transposed(inverse(own, dim), dim));
  for (const [name, turns] of [
    ["queries", back],
    ["keys", matrices],
  ] as const) {
    out.set(name, turned(part(parts, name), turns, step));
  }
  return out;
}

/** W of a group of heads, [dim, dim]. */
function matrix(parts: Arrays, group: number, dim: number): Float64Array {
  const inner = part(parts, "inner").values;
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
  const out = new Float32Array(values.length);
  const vector = new Float64Array(dim);
  for (let head = 0; head < heads; head++) {
    const own = matrices[Math.floor((head * matrices.length) / heads)];
    const rows = Array.from({ length: dim }, (_, i) => own.subarray(i * dim, (i + 1) * dim));
    for (let token = 0; token < tokens; token++) {
      const first = head * dim * tokens + token;
      for (let n = 0; n < dim; n++) vector[n] = values[first + n * tokens] * step;
      const to = (head * tokens + token) * dim;
      for (let i = 0; i < dim; i++) out[to + i] = product(rows[i], vector);
    }
  }
  return { shape: [heads, tokens, dim], values: out };
}

function product(a: Float64Array, b: Float64Array): number {
  let [even, odd] = [0, 0];
  // Two sums, so that one addition need not wait for the other.
  const whole = a.length - (a.length % 2);
  for (let n = 0; n < whole; n += 2) {
    even += a[n] * b[n];
    odd += a[n + 1] * b[n + 1];
  }
  return even + odd + (whole < a.length ? a[whole] * b[whole] : 0);
}

/** By Gauss and Jordan, with the largest pivot of each column. */
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
    const own = rows[column];
    const by = own[column];
    for (let n = column; n < width; n++) own[n] /= by;
    for (const row of rows) {
      const times = row[column];
      if (row === own || times === 0) continue;
      for (let n = column; n < width; n++) row[n] -= times * own[n];
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

function part(parts: Arrays, name: string): NumberArray {
  const found = parts.get(name);
  if (!found) throw new Error(`This layer came without its ${name}.`);
  return found;
}
