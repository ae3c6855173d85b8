/** One layer's arrays: weights, scores and vectors of its heads, computed when asked for. */

import type { Arrays, NumberArray } from "./codec.ts";
import type { LayerInfo, StackInfo } from "./manifest.ts";
import { without } from "./neurons.ts";
import { addBias, type HeadProgram, logSumExp, scores, sinkOf, type Table } from "./scores.ts";

export class LayerData {
  readonly numQueries: number;
  readonly numKeys: number;
  readonly #programs: (HeadProgram | null)[] = [];
  /** Per head, the log of every row's softmax denominator: a column needs no other row's scores. */
  readonly #normalizers: (Float64Array | undefined)[] = [];
  #matrix: { head: number; weights: Float32Array } | null = null;

  constructor(
    readonly stack: StackInfo,
    readonly info: LayerInfo,
    private readonly arrays: Arrays,
  ) {
    this.numQueries = stack.queries.labels.length;
    this.numKeys = stack.keys.labels.length;
    for (let head = 0; head < info.heads; head++) this.#programs.push(this.#program(head));
  }

  /** Query vector i of a head: [dim], or null where the layer has none. */
  query(head: number, i: number): Float32Array | null {
    return this.#vector("queries", head, i, this.numQueries);
  }

  /** Key vector j, of the key head that this query head uses. */
  key(head: number, j: number): Float32Array | null {
    return this.#vector("keys", this.#keyHead(head), j, this.numKeys);
  }

  /**
   * What went into the softmax of row i; null where only weights were recorded.
   *
   * @param muted components that are left out of q · k.
   */
  scoreRow(head: number, i: number, muted: readonly number[] = []): Float32Array | null {
    const program = this.#programs[head];
    if (!program) return null;
    const row = new Float32Array(this.numKeys);
    const query = program.queries.subarray(i * program.dim, (i + 1) * program.dim);
    scores(program, i, 0, row, without(query, muted));
    return row;
  }

  /** What is added to the products of row i with the keys that it can see; null where nothing is. */
  biasRow(head: number, i: number): Float32Array | null {
    const program = this.#programs[head];
    if (!program?.bias && !program?.relative) return null;
    const row = new Float32Array(this.numKeys);
    addBias(program, i, 0, row);
    return row;
  }

  /** The logit of the head's sink; null where it has none. */
  sink(head: number): number | null {
    return this.info.program?.sinks?.[head] ?? null;
  }

  /** The weights of row i: how much query i attends to each key. */
  weightRow(head: number, i: number, muted: readonly number[] = []): Float32Array {
    const row = this.scoreRow(head, i, muted);
    if (!row) return this.#weights(head).subarray(i * this.numKeys, (i + 1) * this.numKeys);
    const program = this.#programs[head] as HeadProgram;
    const normalizer = logSumExp(row, sinkOf(program));
    for (let j = 0; j < row.length; j++) row[j] = Math.exp(row[j] - normalizer);
    return row;
  }

  /** The weights of column j: how much each query attends to key j. */
  weightColumn(head: number, j: number): Float32Array {
    const out = new Float32Array(this.numQueries);
    const program = this.#programs[head];
    if (!program) {
      const weights = this.#weights(head);
      for (let i = 0; i < out.length; i++) out[i] = weights[i * this.numKeys + j];
      return out;
    }
    const normalizers = this.#rowNormalizers(program);
    const one = new Float32Array(1);
    for (let i = 0; i < out.length; i++) {
      scores(program, i, j, one);
      out[i] = Math.exp(one[0] - normalizers[i]);
    }
    return out;
  }

  /** All weights of one head, [Tq, Tk]. Only the last head asked for is kept. */
  matrix(head: number): Float32Array {
    if (this.#matrix?.head === head) return this.#matrix.weights;
    const weights = new Float32Array(this.numQueries * this.numKeys);
    for (let i = 0; i < this.numQueries; i++) {
      weights.set(this.weightRow(head, i), i * this.numKeys);
    }
    this.#matrix = { head, weights };
    return weights;
  }

  #rowNormalizers(program: HeadProgram): Float64Array {
    const known = this.#normalizers[program.head];
    if (known) return known;
    const row = new Float32Array(this.numKeys);
    const out = new Float64Array(this.numQueries);
    for (let i = 0; i < out.length; i++) {
      scores(program, i, 0, row);
      out[i] = logSumExp(row, sinkOf(program));
    }
    this.#normalizers[program.head] = out;
    return out;
  }

  #program(head: number): HeadProgram | null {
    const { program, dim } = this.info;
    if (!program || dim === null) return null;
    return {
      program,
      head,
      dim,
      queries: this.#slice("queries", head, this.numQueries * dim),
      keys: this.#slice("keys", this.#keyHead(head), this.numKeys * dim),
      bias: program.bias ? this.#table("bias", head) : null,
      relative: program.relative ? this.#perHead("relative", head) : null,
      visible: program.mask === "explicit" ? this.#table("visible", head) : null,
    };
  }

  #keyHead(head: number): number {
    return Math.floor((head * this.info.key_heads) / this.info.heads);
  }

  #weights(head: number): Float32Array {
    return this.#slice("weights", head, this.numQueries * this.numKeys);
  }

  #table(name: string, head: number): Table {
    return { values: this.#perHead(name, head), columns: this.#array(name).shape[2] };
  }

  /** A head's part of an array that is either one for all heads or one per head. */
  #perHead(name: string, head: number): Float32Array {
    const { shape, values } = this.#array(name);
    return this.#slice(name, head % shape[0], values.length / shape[0]);
  }

  #vector(name: string, head: number, position: number, tokens: number): Float32Array | null {
    const { dim } = this.info;
    if (dim === null) return null;
    const start = (head * tokens + position) * dim;
    return this.#array(name).values.subarray(start, start + dim);
  }

  #slice(name: string, index: number, size: number): Float32Array {
    return this.#array(name).values.subarray(index * size, (index + 1) * size);
  }

  #array(name: string): NumberArray {
    const array = this.arrays.get(name);
    if (!array) throw new Error(`This layer came without its ${name}.`);
    return array;
  }
}
