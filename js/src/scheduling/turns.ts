/** A queue of requests: one at a time, the latest first, without those that were aborted. */

import { nextFrame } from "./frame.ts";

/** An answer that takes longer does not delay the next request. */
const PATIENCE_MS = 1000;

export class Turns {
  readonly #waiting: (() => Promise<unknown>)[] = [];
  #cancel: (() => void) | null = null;
  /** Ends the turn of the current request. */
  #over: (() => void) | null = null;

  /** @param end ends the queue. */
  constructor(end: AbortSignal) {
    end.addEventListener("abort", () => {
      this.#waiting.length = 0;
      this.#cancel?.();
      this.#over?.();
    });
  }

  /**
   * Call `ask` when it is its turn, in the next frame at the earliest.
   *
   * @param signal if aborted before that, `ask` is not called.
   */
  take<Answer>(ask: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const turn = () => {
        signal.removeEventListener("abort", leave);
        const answer = ask();
        resolve(answer);
        return answer;
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(turn);
      this.#plan();
    });
  }

  #plan(): void {
    this.#cancel ??= nextFrame(() => {
      this.#cancel = null;
      this.#next();
    });
  }

  #next(): void {
    if (this.#over) return;
    const turn = this.#waiting.pop();
    if (!turn) return;
    const over = () => {
      clearTimeout(timer);
      if (this.#over !== over) return;
      this.#over = null;
      if (this.#waiting.length) this.#plan();
    };
    const timer = setTimeout(over, PATIENCE_MS);
    this.#over = over;
    turn().then(over, over);
  }
}
