/** Mounts the whole app in an empty page, with the record of the shared vectors. */

import { expect, onTestFinished } from "vitest";
import { page } from "vitest/browser";
import { type Around, mount } from "../../src/app.ts";
import type { Block } from "../../src/data/codec.ts";
import type { Source, Store } from "../../src/data/store.ts";
import { Scope } from "../../src/scheduling/scope.ts";
import type { Choices } from "../../src/state/choices.ts";
import type { State } from "../../src/state/state.ts";
import { stateOf, storeOf } from "./choices.ts";
import { eventually } from "./eventually.ts";
import { parts } from "./locators.ts";
import { restPointer } from "./place.ts";
import { blockOf, RECORD, type SentRecord } from "./vectors.ts";

export interface App {
  readonly parent: HTMLElement;
  readonly shadow: ShadowRoot;
  /** The element that handles keys. */
  readonly root: HTMLElement;
  readonly state: State;
  readonly store: Store;
  unmount(): void;
}

export interface AppOptions {
  readonly choices?: Partial<Choices>;
  readonly record?: SentRecord;
  readonly source?: Source;
  /** The width of the app in CSS pixels. */
  readonly width?: number;
  readonly around?: Around;
}

/** A source that answers at once. */
export function sourceOf(record: SentRecord = RECORD): Source {
  return {
    block: async (stack, layer) => blockOf(record.blocks[`${stack}.${layer}`]),
    combined: async (stack) => blockOf(record.blocks[`${stack}.combined`]),
  };
}

/** A source whose layers arrive when the test says so. */
export function slowSource(record: SentRecord = RECORD) {
  const waiting = new Map<string, () => void>();
  const wait = (key: string) =>
    new Promise<Block>((resolve) => {
      waiting.set(key, () => resolve(blockOf(record.blocks[key])));
    });
  const source: Source = {
    block: (stack, layer) => wait(`${stack}.${layer}`),
    combined: (stack) => wait(`${stack}.combined`),
  };
  const arrive = async (key: string) => {
    waiting.get(key)?.();
    // Decoding only awaits promises.
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { source, arrive };
}

export async function mountApp({
  choices = {},
  record = RECORD,
  source = sourceOf(record),
  width = 1900,
  around,
}: AppOptions = {}): Promise<App> {
  await page.viewport(2000, 1000);
  await restPointer();
  const parent = document.createElement("div");
  parent.style.width = `${width}px`;
  document.body.append(parent);
  const [state, store] = [stateOf(choices, record), storeOf(record, source)];
  const scope = new Scope();
  mount(scope, parent, store, state, around);
  const unmount = () => scope.end();
  onTestFinished(() => {
    unmount();
    parent.remove();
  });
  const shadow = parent.firstElementChild?.shadowRoot as ShadowRoot;
  const root = shadow.querySelector<HTMLElement>(".root") as HTMLElement;
  return { parent, shadow, root, state, store, unmount };
}

/** Mount the app with the model view. */
export async function mountModel(options: AppOptions = {}): Promise<App> {
  const app = await mountApp({ ...options, choices: { view: "model", ...options.choices } });
  await expect.element(parts().grid).toBeInTheDocument();
  return app;
}

/** Wait until the layer is here and its lines are drawn. */
export async function drawn({ shadow }: App): Promise<void> {
  await eventually(() => {
    const canvas = shadow.querySelector<HTMLCanvasElement>("canvas.base");
    expect(canvas && painted(canvas)).toBeGreaterThan(0);
  });
}

export function find<Type extends Element = HTMLElement>({ shadow }: App, selector: string): Type {
  const found = shadow.querySelector<Type>(selector);
  if (!found) throw new Error(`There is no ${selector}.`);
  return found;
}

/** The colour and opacity at a position in CSS pixels, 0 to 255 each. */
export function pixel(canvas: HTMLCanvasElement, x: number, y: number): number[] {
  const { width, height } = canvas.getBoundingClientRect();
  const at = [(x * canvas.width) / width, (y * canvas.height) / height] as const;
  return [...(canvas.getContext("2d")?.getImageData(...at, 1, 1).data ?? [])];
}

/** The number of pixels that are not transparent. */
export function painted(canvas: HTMLCanvasElement): number {
  const image = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 3; image && at < image.data.length; at += 4) if (image.data[at] > 0) count++;
  return count;
}
