/** The page's side of the worker, which starts when it is first needed. */

import { bytesIn } from "../../data/arrays.ts";
import { type AttentionMatrix, isMatrix, type Source } from "../../data/attention-matrix.ts";
import { compiledModule } from "../../kernels/compiled.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";

interface Task {
  readonly source: Source;
  show(...shown: readonly unknown[]): void;
  /** Called to do the work on the page instead. */
  failed(): void;
}

/** The budget in bytes for sources that the worker keeps: the layer in view and recent ones. */
const BUDGET = 48 * 2 ** 20;

export class Client {
  #worker: Worker | null = null;
  /** True if the page may not start a worker. */
  #refused = false;
  readonly #tasks = new Map<number, Task>();
  #count = 0;
  readonly #numbers = new WeakMap<Source, number>();
  /** The size of each source that the worker has, the most recently used last. */
  readonly #kept = new Map<number, number>();
  readonly #gone = new FinalizationRegistry<number>((source) => this.#drop(source));

  /** @param start creates the worker; may throw if it is forbidden */
  constructor(private readonly start: () => Worker) {}

  get refused(): boolean {
    return this.#refused;
  }

  /** Paint in the worker. Returns a function that stops it. */
  paint(
    kind: "lines" | "matrix",
    source: Source,
    matrices: readonly AttentionMatrix[],
    job: unknown,
    { show, failed }: Pick<Task, "show" | "failed">,
  ): () => void {
    const task = this.#count++;
    this.#tasks.set(task, { source, show, failed });
    try {
      const specs = matrices.map(({ spec }) => spec);
      const number = this.#keep(source);
      this.#send({ op: "paint", task, kind, source: number, specs, job });
    } catch {
      this.#fail();
    }
    return () => {
      if (this.#tasks.delete(task)) this.#worker?.postMessage({ op: "stop", task });
    };
  }

  #send(message: ToWorker): void {
    this.#worker ??= this.#begin();
    this.#worker.postMessage(message);
  }

  #begin(): Worker {
    const started = this.start();
    started.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(data);
    // A policy may also reject the worker after it was created.
    started.onerror = (event) => {
      event.preventDefault();
      this.#fail();
    };
    const first: ToWorker = { op: "start", module: compiledModule() };
    started.postMessage(first);
    return started;
  }

  #receive({ task: number, shown, learnt, failed }: FromWorker): void {
    const task = this.#tasks.get(number);
    if (!task) return;
    if (shown) {
      task.show(...shown);
      return;
    }
    this.#tasks.delete(number);
    if (failed !== undefined) task.failed();
    const { source } = task;
    if (!isMatrix(source)) for (const entry of learnt ?? []) source.learn(...entry);
  }

  /** Repeat all tasks on the page. */
  #fail(): void {
    this.#refused = true;
    this.#worker?.terminate();
    this.#worker = null;
    const tasks = [...this.#tasks.values()];
    this.#tasks.clear();
    for (const { failed } of tasks) failed();
  }

  /** The id of a source in the worker, which gets it if it does not have it. */
  #keep(source: Source): number {
    let number = this.#numbers.get(source);
    if (number === undefined) {
      number = this.#count++;
      this.#numbers.set(source, number);
      this.#gone.register(source, number);
    }
    const content = isMatrix(source) ? source : source.content;
    if (!this.#kept.delete(number)) this.#send({ op: "keep", source: number, content });
    const bytes = isMatrix(source) ? source.byteLength : bytesIn(source.content.arrays);
    this.#kept.set(number, bytes);
    let held = [...this.#kept.values()].reduce((sum, own) => sum + own);
    for (const [kept, own] of this.#kept) {
      if (kept === number || held <= BUDGET) break;
      this.#drop(kept);
      held -= own;
    }
    return number;
  }

  #drop(source: number): void {
    if (this.#kept.delete(source)) this.#worker?.postMessage({ op: "drop", source });
  }
}
