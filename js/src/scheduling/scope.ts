/** The lifetime of something on the page, such as one view of a widget: it ends all that it owns. */

import { effect } from "@preact/signals-core";

export class Scope {
  readonly #controller = new AbortController();

  /** Aborted when the scope ends: for listeners, requests, and whatever else takes a signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** A scope that ends with this one, or before it. */
  child(): Scope {
    const child = new Scope();
    if (this.signal.aborted) child.end();
    else this.signal.addEventListener("abort", () => child.end(), { signal: child.signal });
    return child;
  }

  /** Run now and whenever a signal that was read changes; what it returns runs before the next run. */
  effect(run: Parameters<typeof effect>[0]): void {
    this.onEnd(effect(run));
  }

  /** Like `effect`, where each run begins things of its own, which end before the next run. */
  scopedEffect(run: (scope: Scope) => void): void {
    this.effect(() => {
      const own = this.child();
      run(own);
      return () => own.end();
    });
  }

  /** Call `changed` when the size of an element changes. */
  onResize(element: Element, changed: () => void): void {
    // A frame later, because what changes size while sizes are observed is a complaint in the console.
    const observer = new ResizeObserver(() => requestAnimationFrame(changed));
    observer.observe(element);
    this.onEnd(() => observer.disconnect());
  }

  /** Call `run` once when the scope ends; at once where it has ended. */
  onEnd(run: () => void): void {
    if (this.signal.aborted) run();
    else this.signal.addEventListener("abort", run, { once: true });
  }

  end(): void {
    this.#controller.abort();
  }
}
