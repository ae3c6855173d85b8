/** The one worker of a page, for all widgets on it. It runs the very script that the page runs. */

import { Client } from "./client.ts";

/** Each widget may come with a copy of this module: they meet where all can look. */
const KNOWN = Symbol.for("attnwidget.workers");
const page = globalThis as { [KNOWN]?: Map<string, Client> };

let own: Client | null = null;

/** Null where the script is not known. */
export const pageWorker = (): Client | null => own;

export function useWorker(client: Client | null): void {
  own = client;
}

/**
 * @param script of this page or widget. Another version of it has another worker.
 * @param type whether it is a module. Pages opened from disk may not start one.
 */
export function workWith(script: string, type: WorkerType): void {
  page[KNOWN] ??= new Map();
  const client = page[KNOWN].get(script) ?? new Client(() => workerOf(script, type));
  page[KNOWN].set(script, client);
  useWorker(client);
}

function workerOf(script: string, type: WorkerType): Worker {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(url, { type });
  const revoke = () => URL.revokeObjectURL(url);
  for (const event of ["message", "error"]) worker.addEventListener(event, revoke, { once: true });
  return worker;
}
