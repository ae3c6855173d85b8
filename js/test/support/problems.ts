/** Fails tests that log anything to the browser's console. */

import { afterEach, beforeEach, expect } from "vitest";

/** Ignored here; a separate test looks for it. */
export const RESIZE_LOOP = "ResizeObserver loop";

/** Check every test of the file that calls this. */
export function expectNoProblems(): void {
  const { error, warn } = console;
  let problems: string[] = [];
  const add = (problem: string) => {
    if (!problem.includes(RESIZE_LOOP)) problems.push(problem);
  };
  const onError = (event: ErrorEvent) => add(event.message);
  const onRejection = (event: PromiseRejectionEvent) => add(`${event.reason}`);

  beforeEach(() => {
    problems = [];
    console.error = (...words) => add(words.join(" "));
    console.warn = (...words) => add(words.join(" "));
    addEventListener("error", onError);
    addEventListener("unhandledrejection", onRejection);
  });
  afterEach(() => {
    Object.assign(console, { error, warn });
    removeEventListener("error", onError);
    removeEventListener("unhandledrejection", onRejection);
    expect(problems).toEqual([]);
  });
}
