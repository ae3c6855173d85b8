/** A queue of requests: one at a time, the latest first, without those that were aborted. */

import { nextFrame } from "./frame.ts";

/** An answer that takes longer does not delay the next request. */
const PATIENCE_MS = 1000;

export class Turns {
  readonly #waiting: (() => Promise<unknown>)[] = [];
  #busy = false;

  /** @param end ends the queue. */
  constructor(end: AbortSignal) {
    end.addEventListener("abort", () => {
      this.#waiting.length = 0;
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
      if (!this.#busy) void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length) {
      await new Promise<void>((next) => nextFrame(next));
      let timer = 0;
      const patience = new Promise((over) => {
        timer = setTimeout(over, PATIENCE_MS);
      });
      await Promise.race([this.#waiting.pop()?.(), patience]).catch(() => {});
      clearTimeout(timer);
    }
    this.#busy = false;
  }
}
