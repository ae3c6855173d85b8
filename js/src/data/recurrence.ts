/** Evaluates recurrences, token by token: mirrors `attnwidget/record/recurrence.py`. */

/** The factors of each token, [T, columns]. */
interface Decay {
  readonly values: Float64Array;
  /** 1, or one for each dimension. */
  readonly columns: number;
}

/** Everything that determines the coefficients of a head. */
export interface HeadRecurrence {
  readonly scale: number;
  readonly dim: number;
  /** [T, dim], row by row. */
  readonly queries: Float32Array;
  readonly keys: Float32Array;
  /** The share of the state that each token leaves; null for all of it. */
  readonly kept: Decay | null;
  /** [T]; null for 1, and for 0. */
  readonly write: Float32Array | null;
  readonly erase: Float32Array | null;
  /** Added to the coefficient of each token's own value. */
  readonly own: number;
}

/**
 * Walk a query back to the tokens before it.
 *
 * @param visit called with each token, the walked query there, which the next call changes, and its
 * product with the token's key
 */
export function walkBack(
  head: HeadRecurrence,
  query: number,
  visit: (token: number, walked: Float64Array, read: number) => void,
): void {
  const { scale, dim, queries, keys, kept, erase } = head;
  const walked = Float64Array.from(
    queries.subarray(query * dim, (query + 1) * dim),
    (component) => scale * component,
  );
  for (let token = query; token >= 0; token--) {
    const at = token * dim;
    let read = 0;
    for (let n = 0; n < dim; n++) read += walked[n] * keys[at + n];
    visit(token, walked, read);
    const erased = erase ? erase[token] * read : 0;
    if (erased) for (let n = 0; n < dim; n++) walked[n] -= erased * keys[at + n];
    if (kept) decay(walked, kept, token);
  }
}

/** The coefficients of a query for each token's value, into `out`; zero for later tokens. */
export function coefficientRow(
  head: HeadRecurrence,
  query: number,
  muted: readonly number[],
  out: Float32Array,
): void {
  const { dim, keys, write, own } = head;
  out.fill(0);
  walkBack(head, query, (token, walked, read) => {
    let left = read;
    for (const n of muted) left -= walked[n] * keys[token * dim + n];
    out[token] = write ? write[token] * left : left;
  });
  out[query] += own;
}

/** The coefficients of each query for a token's value: what it wrote is followed through later tokens. */
export function coefficientColumn(head: HeadRecurrence, key: number, out: Float32Array): void {
  const { scale, dim, queries, keys, kept, write, erase, own } = head;
  out.fill(0);
  const held = Float64Array.from(keys.subarray(key * dim, (key + 1) * dim));
  const written = scale * (write?.[key] ?? 1);
  for (let token = key; token < queries.length / dim; token++) {
    const at = token * dim;
    if (token > key) {
      if (kept) decay(held, kept, token);
      let met = 0;
      if (erase) for (let n = 0; n < dim; n++) met += held[n] * keys[at + n];
      const erased = erase ? erase[token] * met : 0;
      if (erased) for (let n = 0; n < dim; n++) held[n] -= erased * keys[at + n];
    }
    let read = 0;
    for (let n = 0; n < dim; n++) read += held[n] * queries[at + n];
    out[token] = written * read;
  }
  out[key] += own;
}

/** Decay a vector at a token, by one number or by one for each dimension. */
function decay(vector: Float64Array, { values, columns }: Decay, token: number): void {
  const [at, step] = [token * columns, columns > 1 ? 1 : 0];
  for (let n = 0; n < vector.length; n++) vector[n] *= values[at + n * step];
}
