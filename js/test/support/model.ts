/** A stand-in for anywidget's model, the one thing that exists in notebooks only. */

type Handler = (...args: never[]) => void;

interface Message {
  readonly id: string;
  readonly op: string;
  readonly stack: string;
  readonly layer: number;
}

export class FakeModel {
  /** What went to the kernel, in order. */
  readonly sent: Message[] = [];
  /** What each save_changes carried. */
  readonly saved: Record<string, unknown>[] = [];
  readonly #traits: Map<string, unknown>;
  readonly #handlers = new Map<string, Set<Handler>>();
  #unsaved: Record<string, unknown> = {};

  constructor(traits: Readonly<Record<string, unknown>> = {}) {
    this.#traits = new Map(Object.entries(traits));
  }

  get(name: string): unknown {
    return this.#traits.get(name);
  }

  set(name: string, value: unknown): void {
    this.#traits.set(name, value);
    this.#unsaved[name] = value;
    this.#emit(`change:${name}`);
  }

  save_changes(): void {
    this.saved.push(this.#unsaved);
    this.#unsaved = {};
  }

  send(content: unknown): void {
    this.sent.push(content as Message);
  }

  on(event: string, handler: Handler): void {
    const handlers = this.#handlers.get(event) ?? new Set();
    this.#handlers.set(event, handlers.add(handler));
  }

  off(event: string, handler: Handler): void {
    this.#handlers.get(event)?.delete(handler);
  }

  /** How many handlers are registered, of all events together. */
  get listening(): number {
    return [...this.#handlers.values()].reduce((sum, handlers) => sum + handlers.size, 0);
  }

  /** A trait that the kernel changed. Hosts differ in what they pass along: here, nothing useful. */
  receive(name: string, value: unknown): void {
    this.#traits.set(name, value);
    this.#emit(`change:${name}`, "not the value");
  }

  /** A message from the kernel. */
  deliver(content: unknown, buffers?: unknown): void {
    this.#emit("msg:custom", content, buffers);
  }

  #emit(event: string, ...args: unknown[]): void {
    for (const handler of [...(this.#handlers.get(event) ?? [])]) handler(...(args as never[]));
  }
}
