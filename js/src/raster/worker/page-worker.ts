/** The worker of a page, shared by all widgets on it. It runs the same script as the page. */

import { oncePerPage } from "../../basics/once-per-page.ts";
import { Client } from "./client.ts";

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
  useWorker(oncePerPage(script, () => new Client(() => workerOf(script, type))));
}

function workerOf(script: string, type: WorkerType): Worker {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(url, { type });
  const revoke = () => URL.revokeObjectURL(url);
  for (const event of ["message", "error"]) worker.addEventListener(event, revoke, { once: true });
  return worker;
}
