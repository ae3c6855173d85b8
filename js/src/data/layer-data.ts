/** A layer with all of its arrays, which computes weights, scores and vectors on demand. */

import { signal } from "@preact/signals-core";
import { kernelsFor, scriptKernels } from "../kernels/compiled.ts";
import type { Kernels } from "../kernels/kernels.ts";
import { nextFrame } from "../scheduling/frame.ts";
import { sliced } from "../scheduling/slices.ts";
import { type Arrays, arrayOf, type NumberArray, valuesOf } from "./arrays.ts";
import { FACTORS, factorsOf } from "./check-block.ts";
import type { BlockError } from "./codec.ts";
import type { LayerInfo, LensInfo, Side, StackInfo } from "./manifest.ts";
import { dot, without } from "./neurons.ts";
import { type Normalized, Normalizers } from "./normalizers.ts";
import { coefficientColumn, coefficientRow, type HeadRecurrence, walkBack } from "./recurrence.ts";
import {
  addBias,
  type HeadProgram,
  scoreColumn,
  scoreRow,
  seenBy,
  sinkOf,
  softmax,
  type Table,
} from "./scores.ts";

/** The most multiplications, of all heads together, to prepare columns without a pause. */
const AT_ONCE = 8e6;

/** Kernels process four numbers at a time, and may write three more. */
const padded = (count: number) => Math.ceil(count / 4) * 4 + 4;

/** Implements `RecordLayer`, with the whole layer at hand. */
export class LayerData {
  readonly numQueries: number;
  readonly numKeys: number;
  /** The largest difference of a weight, or coefficient, from the record's. */
  readonly rounding: number;
  /** The number of sampled rows that `rounding` was measured in; null if in all. */
  readonly roundingRows: number | null;
  /** The largest difference of a component of q or k. */
  readonly vectorRounding: number;
  /** Bounds of the differences of all weights, of scores, and of shares by lenses of factors. */
  readonly largestRounding: number;
  readonly scoreRounding: number;
  readonly shareRounding: number;
  readonly #arrays: Arrays;
  readonly #kernels: Kernels;
  readonly #programs: (HeadProgram | null)[] = [];
  /** By head, of a layer without a softmax. */
  readonly #recurrences = new Map<number, HeadRecurrence>();
  /** Walked queries by head and query. */
  readonly #walked = new Map<string, Float32Array>();
  /** The normalizers of the rows computed so far, by head. */
  readonly #normalizers: Normalizers[] = [];
  /** Counts new normalizers, for signals that wait for columns; unwatched, the work stops. */
  readonly #learnt = signal(0, { unwatched: () => this.#stop?.() });
  readonly #wanted = new Set<number>();
  /** The names of the arrays with factors of lenses. */
  readonly #factored: readonly string[];
  /** Stops the work on them; null if there is none. */
  #stop: (() => void) | null = null;
  // Work space for one row, one column and one vector.
  readonly #row: Float32Array;
  readonly #column: Float32Array;
  readonly #query: Float32Array;

  constructor(
    readonly stack: StackInfo,
    readonly info: LayerInfo,
    arrays: Arrays,
    error?: BlockError | null,
  ) {
    const measured: Partial<BlockError> = error ?? {};
    // Rows that were not measured may differ more, and encoders allow for twice as much.
    const margin = measured.rows === undefined ? 1 : 2;
    this.rounding = measured.largest ?? 0;
    this.roundingRows = measured.rows ?? null;
    this.vectorRounding = measured.vectors ?? 0;
    this.largestRounding = margin * this.rounding;
    this.scoreRounding = margin * (measured.scores ?? 0);
    this.shareRounding = margin * (measured.shares ?? 0);
    this.numQueries = stack.queries.labels.length;
    this.numKeys = stack.keys.labels.length;
    const [row, column] = [padded(this.numKeys), padded(this.numQueries)];
    const { heads, program, dim } = info;
    const multiplied = program ? ["queries", "keys"] : [];
    const multipliedSizes = multiplied.map((name) => arrays.get(name)?.values.length ?? 0);
    // Kernels read four vectors at a time, so there must be memory after the last one.
    const work = row + column * (1 + 2 * heads) + 5 * (dim ?? 0);
    const numbers = multipliedSizes.reduce((sum, count) => sum + count, work);
    this.#kernels = program ? kernelsFor(numbers) : scriptKernels(numbers);
    this.#arrays = new Map([...arrays].map(([name, array]) => [name, this.#placed(name, array)]));
    this.#factored = [...arrays.keys()].filter((name) => name.startsWith(FACTORS));
    this.#query = this.#kernels.floats(dim ?? 0);
    this.#row = this.#kernels.floats(row);
    this.#column = this.#kernels.floats(column);
    for (let head = 0; head < heads; head++) {
      const headProgram = this.#program(head);
      this.#programs.push(headProgram);
      if (headProgram)
        this.#normalizers.push(
          new Normalizers(this.#kernels, this.numQueries, column, this.#factored.length),
        );
    }
  }

  get whole(): LayerData {
    return this;
  }

  overview(): undefined {
    return undefined;
  }

  pending(side: Side): string | null {
    // A weight in a column needs the normalizer of its row.
    return side === "key" ? "computing every row once …" : null;
  }

  /** The arguments of the constructor, for a copy. */
  get content() {
    return { stack: this.stack, info: this.info, arrays: this.#arrays };
  }

  /** A bound of the differences of the weights in row i. */
  rowRounding(head: number, i: number): number {
    const steps = this.#arrays.get("steps")?.values;
    if (steps) return steps[head] / 2;
    const decimals = this.#arrays.get("decimals");
    if (!decimals) return this.largestRounding;
    return 10 ** -decimals.values[head * this.numQueries + i] / 2;
  }

  /** Query vector i of a head, [dim], or null if the layer has none. */
  query(head: number, i: number): Float32Array | null {
    return this.#vectors("queries", this.#queryHead(head) * this.numQueries + i, 1);
  }

  /**
   * The query vector i that key j is multiplied with, or null: with a recurrence, it is scaled and
   * walked back to the key, and zero for later keys.
   */
  queryAt(head: number, i: number, j: number): Float32Array | null {
    const { recurrence, dim } = this.info;
    if (!recurrence || dim === null) return this.query(head, i);
    const name = `${head} ${i}`;
    const known = this.#walked.get(name);
    const all = known ?? new Float32Array(this.numKeys * dim);
    if (!known) {
      walkBack(this.#recurrence(head), i, (token, walked) => all.set(walked, token * dim));
      // Those of the explained query and of the one that it is compared with.
      if (this.#walked.size > 1) this.#walked.clear();
      this.#walked.set(name, all);
    }
    return all.subarray(j * dim, (j + 1) * dim);
  }

  /** The strength by which a head writes the value of token j; 1 without such a strength. */
  write(head: number, j: number): number {
    return this.#arrays.get("write")?.values[head * this.numKeys + j] ?? 1;
  }

  /** Key vector j of the key head that this query head uses, [dim], or null. */
  key(head: number, j: number): Float32Array | null {
    return this.#vectors("keys", this.#keyHead(head) * this.numKeys + j, 1);
  }

  /** All key vectors of the same key head, [Tk, dim] row by row, or null. */
  keys(head: number): Float32Array | null {
    return this.#vectors("keys", this.#keyHead(head), this.numKeys);
  }

  /**
   * The scores of row i, before the softmax; null where only weights were recorded.
   *
   * @param muted components left out of q · k
   */
  scoreRow(head: number, i: number, muted: readonly number[] = []): Float32Array | null {
    const program = this.#programs[head];
    if (!program) return null;
    return this.#scores(program, i, muted).slice(0, this.numKeys);
  }

  /** The bias added to the scaled products of row i; null if there is none. */
  biasRow(head: number, i: number): Float32Array | null {
    const program = this.#programs[head];
    if (!program?.bias && !program?.relative) return null;
    const row = new Float32Array(this.numKeys);
    addBias(program, i, 0, row.length, row);
    return row;
  }

  /** The logit of the head's sink; null if it has none. */
  sink(head: number): number | null {
    return this.info.program?.sinks?.[head] ?? null;
  }

  /**
   * The weights of row i: how much query i attends to each key; or the coefficients of a layer
   * without a softmax, which are of either sign.
   */
  weightRow(head: number, i: number, muted: readonly number[] = []): Float32Array {
    return this.passingRow(head, i, muted).slice();
  }

  /** The same in an array that the next call for any row may overwrite. */
  passingRow(head: number, i: number, muted: readonly number[] = []): Float32Array {
    if (this.info.recurrence) {
      const row = this.#row.subarray(0, this.numKeys);
      coefficientRow(this.#recurrence(head), i, muted, row);
      return row;
    }
    const program = this.#programs[head];
    if (!program) return this.#kept(head).subarray(i * this.numKeys, (i + 1) * this.numKeys);
    const row = this.#scores(program, i, muted);
    const [first, end] = seenBy(program, i);
    // Skip the exponential of masked keys on both sides, in steps of the kernels' four numbers.
    const seen = row.subarray(4 * Math.floor(first / 4), 4 * Math.ceil(end / 4));
    const { peak, factor } = softmax(this.#kernels, seen, sinkOf(program));
    row.fill(0, 0, first).fill(0, end);
    const weights = row.subarray(0, this.numKeys);
    if (muted.length === 0) {
      const totals = this.#factored.map((name) => dot(weights, this.#ofKeys(name, head)));
      this.#normalizers[head].set(i, peak, factor, totals);
    }
    return weights;
  }

  /**
   * The weights, or coefficients, of column j: how much each query attends to key j. Computes the missing normalizers
   * of its rows first, which takes as long as the whole matrix.
   */
  weightColumn(head: number, j: number): Float32Array {
    if (this.info.recurrence) {
      const column = new Float32Array(this.numQueries);
      coefficientColumn(this.#recurrence(head), j, column);
      return column;
    }
    const program = this.#programs[head];
    if (!program) {
      const weights = this.#kept(head);
      return Float32Array.from(
        { length: this.numQueries },
        (_, i) => weights[i * this.numKeys + j],
      );
    }
    for (const _ of this.#complete(head));
    const { peaks, factors } = this.#normalizers[head];
    const column = this.#column;
    scoreColumn(this.#kernels, program, j, column);
    this.#kernels.weights(column, peaks, factors);
    return column.slice(0, this.numQueries);
  }

  /** The scores of column j; none of a layer of weights alone. */
  scoreColumn(head: number, j: number): Float32Array {
    const program = this.#programs[head];
    if (!program) return new Float32Array(0);
    scoreColumn(this.#kernels, program, j, this.#column);
    return this.#column.slice(0, this.numQueries);
  }

  /** The factor of each key by a lens, [Tk]; null if the layer has none. */
  factors(lens: LensInfo, head: number): Float32Array | null {
    const name = factorsOf(lens);
    return this.#arrays.has(name) ? this.#ofKeys(name, head) : null;
  }

  /** The weights of row i times the factors of a lens, as shares of the row's sum. */
  shareRow(lens: LensInfo, head: number, i: number): Float32Array {
    const [weights, factors] = [this.passingRow(head, i), this.#ofKeys(factorsOf(lens), head)];
    const total = dot(weights, factors);
    return weights.map((weight, j) => (total > 0 ? (weight * factors[j]) / total : 0));
  }

  /** These shares of column j. Takes as long as `weightColumn`. */
  shareColumn(lens: LensInfo, head: number, j: number): Float32Array {
    const name = factorsOf(lens);
    const [weights, factors] = [this.weightColumn(head, j), this.#ofKeys(name, head)];
    const known = this.#normalizers[head]?.totals[this.#factored.indexOf(name)];
    const totals = known ?? this.#totals(factors, head);
    return weights.map((weight, i) => (totals[i] > 0 ? (weight * factors[j]) / totals[i] : 0));
  }

  /** The sum of weights times factors of every row, where weights are kept. */
  #totals(factors: Float32Array, head: number): Float32Array {
    return Float32Array.from({ length: this.numQueries }, (_, i) =>
      dot(this.passingRow(head, i), factors),
    );
  }

  #ofKeys(name: string, head: number): Float32Array {
    return this.#slice(name, head, this.numKeys);
  }

  /**
   * True if the head's columns can be had without a delay. If not, start to compute what is
   * missing, one head at a time; signals that depend on this run again at the end.
   */
  hasColumns(head: number): boolean {
    const missing = this.#normalizers[head]?.missing ?? 0;
    const work = missing * this.numKeys * (this.info.dim ?? 0) * this.info.heads;
    if (work <= AT_ONCE) return true;
    this.#learnt.value;
    this.#wanted.add(head);
    this.#stop ??= this.#begin();
    return false;
  }

  /** Take over normalizers that a copy computed. */
  learn(head: number, normalized: Normalized): void {
    this.#normalizers[head].learn(normalized);
    this.#learnt.value++;
  }

  /** The normalizers known of a head's rows; null if the head needs none. */
  normalized(head: number): Normalized | null {
    return this.#normalizers[head]?.known() ?? null;
  }

  *#complete(head: number): Generator<void> {
    const normalizers = this.#normalizers[head];
    for (let i = 0; normalizers.missing > 0 && i < this.numQueries; i++) {
      if (normalizers.has(i)) continue;
      this.passingRow(head, i);
      yield;
    }
  }

  #begin(): () => void {
    let stopWork = () => {};
    // Later: a computed signal must not change its own dependencies.
    const cancel = nextFrame(() => {
      stopWork = sliced(this.#completed());
    });
    return () => {
      cancel();
      stopWork();
      this.#wanted.clear();
      this.#stop = null;
    };
  }

  *#completed(): Generator<void> {
    for (const head of this.#wanted) {
      yield* this.#complete(head);
      this.#wanted.delete(head);
      this.#learnt.value++;
    }
    this.#stop = null;
  }

  /** The scores of row i, followed by -Infinity. The next call overwrites them. */
  #scores(program: HeadProgram, i: number, muted: readonly number[]): Float32Array {
    const { queries, dim } = program;
    const query = queries.subarray(i * dim, (i + 1) * dim);
    if (muted.length) this.#query.set(without(query, muted));
    scoreRow(this.#kernels, program, i, muted.length ? this.#query : query, this.#row);
    return this.#row;
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

  #recurrence(head: number): HeadRecurrence {
    const known = this.#recurrences.get(head);
    if (known) return known;
    const { recurrence, dim } = this.info;
    if (!recurrence || dim === null) throw new Error("This layer has no recurrence.");
    const { scale, decay: columns, write, erase, own } = recurrence;
    const tokens = this.numKeys;
    const made = {
      scale,
      dim,
      queries: this.#slice("queries", this.#queryHead(head), tokens * dim),
      keys: this.#slice("keys", this.#keyHead(head), tokens * dim),
      kept: columns
        ? // Rounded to single precision, the errors of many tokens would add up.
          {
            values: Float64Array.from(this.#slice("decay", head, tokens * columns), Math.exp),
            columns,
          }
        : null,
      write: write ? this.#slice("write", head, tokens) : null,
      erase: erase ? this.#slice("erase", head, tokens) : null,
      own: own?.[head] ?? 0,
    };
    this.#recurrences.set(head, made);
    return made;
  }

  #queryHead(head: number): number {
    const { recurrence, heads } = this.info;
    return recurrence ? Math.floor((head * recurrence.query_heads) / heads) : head;
  }

  #keyHead(head: number): number {
    return Math.floor((head * this.info.key_heads) / this.info.heads);
  }

  /** The numbers of a head that are kept as such, row by row. */
  #kept(head: number): Float32Array {
    const name = this.info.signed ? "coefficients" : "weights";
    return this.#slice(name, head, this.numQueries * this.numKeys);
  }

  #table(name: string, head: number): Table {
    return { values: this.#perHead(name, head), columns: arrayOf(this.#arrays, name).shape[2] };
  }

  /** The values of one head in an array with either one row for all heads or one per head. */
  #perHead(name: string, head: number): Float32Array {
    const { shape, values } = arrayOf(this.#arrays, name);
    return this.#slice(name, head % shape[0], values.length / shape[0]);
  }

  /** A group of so many vectors; null if the layer has none. */
  #vectors(name: string, index: number, count: number): Float32Array | null {
    const { dim } = this.info;
    return dim === null ? null : this.#slice(name, index, count * dim);
  }

  #slice(name: string, index: number, size: number): Float32Array {
    return valuesOf(this.#arrays, name).subarray(index * size, (index + 1) * size);
  }

  /** Copy queries and keys to the memory of the kernels. */
  #placed(name: string, array: NumberArray): NumberArray {
    if (!this.info.program || !(name === "queries" || name === "keys")) return array;
    const values = this.#kernels.floats(array.values.length);
    values.set(array.values);
    return { shape: array.shape, values };
  }
}
