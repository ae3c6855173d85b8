import { vi } from "vitest";
import { PATIENCE } from "./patience.ts";

/** Repeat a check until it passes. */
export const eventually = <T>(check: () => T | Promise<T>, { interval = 20 } = {}): Promise<T> =>
  vi.waitFor(check, { timeout: PATIENCE, interval });
