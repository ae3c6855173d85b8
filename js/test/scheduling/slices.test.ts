import { expect, test } from "vitest";
import { sliced } from "../../src/scheduling/slices.ts";

/** Work of some milliseconds per step, and what became of it. */
function work(steps: number) {
  const seen = { done: 0, ends: 0 };
  function* all(): Generator<void> {
    try {
      while (seen.done < steps) {
        const until = performance.now() + 3;
        while (performance.now() < until);
        // Counted before it yields: on a busy machine, a slice may be over after its first step.
        seen.done++;
        yield;
      }
    } finally {
      seen.ends++;
    }
  }
  return { seen, all: all() };
}

const nextTimer = () => new Promise((resolve) => setTimeout(resolve));

test("other work is done between slices", async () => {
  const { seen, all } = work(100);
  sliced(all);
  expect(seen.done).toBeGreaterThan(0);
  await nextTimer();
  expect(seen.done).toBeLessThan(100);
  await expect.poll(() => seen).toEqual({ done: 100, ends: 1 });
});

test("stopped work ends between two slices", async () => {
  const { seen, all } = work(1000);
  const stop = sliced(all);
  await nextTimer();
  stop();
  const { done } = seen;
  expect(seen.ends).toBe(1);
  for (let n = 0; n < 5; n++) await nextTimer();
  expect(seen).toEqual({ done, ends: 1 });
});
