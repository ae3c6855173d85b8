/** The worker, which paints several pictures for the page in turn. */

import { headsOf, isMatrix, type Source } from "../../data/attention-matrix.ts";
import { LayerData } from "../../data/layer-data.ts";
import { useModule } from "../../kernels/compiled.ts";
import { matrixFrom } from "../../lenses/index.ts";
import { type Kind, RASTERIZERS, type Rasterizer } from "../jobs.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";

/** The longest delay of a message. */
const SLICE_MS = 12;

interface Task {
  readonly work: Iterator<void>;
  end(): void;
}

const sources = new Map<number, Source>();
const tasks = new Map<number, Task>();

// A message to itself is handled after waiting messages, and sooner than a timer.
const { port1: sender, port2: receiver } = new MessageChannel();

/** True if this script runs as a worker. */
export const isWorker = typeof document === "undefined";

export function serve(): void {
  receiver.onmessage = turn;
  addEventListener("message", ({ data }: MessageEvent<ToWorker>) => answer(data));
}

function answer(message: ToWorker): void {
  switch (message.op) {
    case "start":
      useModule(message.module);
      break;
    case "keep":
      try {
        sources.set(message.source, sourceOf(message.content));
      } catch {
        // Not enough memory: tasks that need the source will fail.
      }
      break;
    case "drop":
      sources.delete(message.source);
      break;
    case "stop":
      tasks.get(message.task)?.work.return?.();
      tasks.delete(message.task);
      break;
    case "paint":
      try {
        begin(message);
      } catch (error) {
        // The page repeats the task.
        send({ task: message.task, failed: `${error}` });
      }
  }
}

function sourceOf(content: Extract<ToWorker, { op: "keep" }>["content"]): Source {
  if (content instanceof Float32Array) return content;
  return new LayerData(content.stack, content.info, content.arrays);
}

function begin({ task, kind, source, specs, job }: Extract<ToWorker, { op: "paint" }>): void {
  const origin = sources.get(source);
  if (!origin) throw new Error("The worker does not have the source of this picture.");
  const matrices = specs.map((spec) => matrixFrom(spec, origin));
  const show = (...shown: readonly [{ readonly buffer: ArrayBuffer }, ...unknown[]]) =>
    send({ task, shown }, [shown[0].buffer]);
  const work = (RASTERIZERS[kind] as Rasterizer<Kind>)(matrices, job as never, show as never);
  const end = () => {
    const heads = isMatrix(origin) ? [] : new Set(specs.flatMap(headsOf));
    const learnt = [...heads].flatMap((head) => {
      const normalized = (origin as LayerData).normalized(head);
      return normalized ? [[head, normalized] as const] : [];
    });
    send({ task, learnt });
  };
  tasks.set(task, { work, end });
  sender.postMessage(null);
}

/** Continue the task that waited longest. */
function turn(): void {
  const [next] = tasks;
  if (!next) return;
  const [id, task] = next;
  tasks.delete(id);
  try {
    const until = performance.now() + SLICE_MS;
    let done: boolean | undefined;
    do done = task.work.next().done;
    while (!done && performance.now() < until);
    if (done) task.end();
    else tasks.set(id, task);
  } catch (error) {
    send({ task: id, failed: `${error}` });
  }
  if (tasks.size) sender.postMessage(null);
}

function send(message: FromWorker, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}
