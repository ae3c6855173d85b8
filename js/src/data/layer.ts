/** One layer's arrays: weights, scores and vectors of its heads, computed when asked for. */

import type { Arrays } from "./codec.ts";
import type { LayerInfo, StackInfo } from "./manifest.ts";
import { type HeadProgram, logSumExp, score, scoreRow, sinkOf } from "./scores.ts";

export class LayerData {
  readonly numQueries: number;
  readonly numKeys: number;
  readonly #programs: (HeadProgram | null)[] = [];
  /** Per head, the log of every row's softmax denominator: a column needs no other row's scores. */
  readonly #normalizers: (Float64Array | undefined)[] = [];
  #matrix: { head: number; weights: Float32Array } | null = null;

  readonly info: LayerInfo;

  /** @param index which layer of the stack it is. */
  constructor(
    readonly stack: StackInfo,
    readonly index: number,
    private readonly arrays: Arrays,
  ) {
    const info = stack.layers[index];
    this.info = info;
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

  /** What went into the softmax of row i; null where only weights were recorded. */
  scoreRow(head: number, i: number): Float32Array | null {
    const program = this.#programs[head];
    return program && scoreRow(program, i, new Float32Array(this.numKeys));
  }

  /** The weights of row i: how much query i attends to each key. */
  weightRow(head: number, i: number): Float32Array {
    const scores = this.scoreRow(head, i);
    if (!scores) return this.#weights(head).subarray(i * this.numKeys, (i + 1) * this.numKeys);
    const program = this.#programs[head] as HeadProgram;
    const normalizer = logSumExp(scores, sinkOf(program));
    for (let j = 0; j < scores.length; j++) scores[j] = Math.exp(scores[j] - normalizer);
    return scores;
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
    for (let i = 0; i < out.length; i++) out[i] = Math.exp(score(program, i, j) - normalizers[i]);
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
    for (let i = 0; i < out.length; i++)
      out[i] = logSumExp(scoreRow(program, i, row), sinkOf(program));
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
      bias: program.bias ? this.#perHead("bias", head) : null,
      visible: program.mask === "explicit" ? this.#perHead("visible", head) : null,
    };
  }

  #keyHead(head: number): number {
    return Math.floor((head * this.info.key_heads) / this.info.heads);
  }

  #weights(head: number): Float32Array {
    return this.#slice("weights", head, this.numQueries * this.numKeys);
  }

  /** An array that is either one for all heads or one per head. */
  #perHead(name: string, head: number): Float32Array {
    const size = this.numQueries * this.numKeys;
    return this.#slice(name, head % (this.#array(name).length / size), size);
  }

  #vector(name: string, head: number, position: number, tokens: number): Float32Array | null {
    const { dim } = this.info;
    if (dim === null) return null;
    const start = (head * tokens + position) * dim;
    return this.#array(name).subarray(start, start + dim);
  }

  #slice(name: string, index: number, size: number): Float32Array {
    return this.#array(name).subarray(index * size, (index + 1) * size);
  }

  #array(name: string): Float32Array {
    const array = this.arrays.get(name);
    if (!array) throw new Error(`This layer came without its ${name}.`);
    return array;
  }
}
