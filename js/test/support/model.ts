/** A fake of anywidget's model. */

type Handler = (...args: never[]) => void;

interface Message {
  readonly id: string;
  readonly op: string;
  readonly stack: string;
  readonly layer: number;
}

export class FakeModel {
  /** The messages sent to the kernel, in order. */
  readonly sent: Message[] = [];
  /** The traits of each save_changes. */
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

  /** The number of registered handlers, for all events. */
  get listening(): number {
    return [...this.#handlers.values()].reduce((sum, handlers) => sum + handlers.size, 0);
  }

  /** Change a trait as the kernel does. The event has a useless value, since hosts differ in it. */
  receive(name: string, value: unknown): void {
    this.#traits.set(name, value);
    this.#emit(`change:${name}`, "not the value");
  }

  /** Deliver a message from the kernel. */
  deliver(content: unknown, buffers?: unknown): void {
    this.#emit("msg:custom", content, buffers);
  }

  #emit(event: string, ...args: unknown[]): void {
    for (const handler of [...(this.#handlers.get(event) ?? [])]) handler(...(args as never[]));
  }
}
