/** The worker of a page, shared by all widgets on it. It runs the same script as the page. */

import { Client } from "./client.ts";

/** A registry of the page, since each widget may have its own copy of this module. */
const KNOWN = Symbol.for("attnwidget.workers");
const page = globalThis as { [KNOWN]?: Map<string, Client> };

let current: Client | null = null;

/** Null if the script is not known. */
export const pageWorker = (): Client | null => current;

export function useWorker(client: Client | null): void {
  current = client;
}

/**
 * @param script the source of this page or widget; another version has another worker
 * @param type pages opened from disk may not start a module worker
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
