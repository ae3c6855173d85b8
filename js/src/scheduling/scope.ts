/** The lifetime of a part of the page, whose end stops its effects and listeners. */

import { effect } from "@preact/signals-core";
import { nextFrame } from "./frame.ts";

export class Scope {
  readonly #controller = new AbortController();

  /** Aborted when the scope ends: for listeners and requests. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** A scope that ends with this one at the latest. */
  child(): Scope {
    const child = new Scope();
    if (this.signal.aborted) child.end();
    else this.signal.addEventListener("abort", () => child.end(), { signal: child.signal });
    return child;
  }

  /** Run now and when a signal that was read changes; `run` may return a clean-up function. */
  effect(run: Parameters<typeof effect>[0]): void {
    this.onEnd(effect(run));
  }

  /** Like `effect`, with a scope for each run, which ends before the next run. */
  scopedEffect(run: (scope: Scope) => void): void {
    this.effect(() => {
      const inner = this.child();
      run(inner);
      return () => inner.end();
    });
  }

  /** Call `changed` when the size of an element changes. */
  onResize(element: Element, changed: () => void): void {
    // In the next frame: changing sizes during observation logs an error.
    const observer = new ResizeObserver(() => requestAnimationFrame(changed));
    observer.observe(element);
    this.onEnd(() => observer.disconnect());
    // Browsers do not observe frames that are out of sight, but print them.
    this.onEnd(
      nextFrame(() => {
        if (element.clientWidth > 0) changed();
      }),
    );
  }

  /** Call `run` once when the scope ends; at once if it has ended. */
  onEnd(run: () => void): void {
    if (this.signal.aborted) run();
    else this.signal.addEventListener("abort", run, { once: true });
  }

  end(): void {
    this.#controller.abort();
  }
}
