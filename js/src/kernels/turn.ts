import type { Kernels } from "./kernels.ts";

export const turn: Kernels["turn"] = (values, step, matrix, vector, out) => {
  const dim = Math.sqrt(matrix.length);
  const count = values.length / dim;
  for (let token = 0; token < count; token++) {
    for (let n = 0; n < dim; n++) vector[n] = values[n * count + token] * step;
    for (let i = 0; i < dim; i++) out[token * dim + i] = product(matrix, i * dim, vector, dim);
  }
};

function product(matrix: Float64Array, row: number, vector: Float64Array, dim: number): number {
  let [even, odd] = [0, 0];
  // Two sums, which the processor adds in parallel.
  const whole = dim - (dim % 2);
  for (let n = 0; n < whole; n += 2) {
    even += matrix[row + n] * vector[n];
    odd += matrix[row + n + 1] * vector[n + 1];
  }
  return even + odd + (whole < dim ? matrix[row + whole] * vector[whole] : 0);
}
