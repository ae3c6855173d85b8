/** The widget as a host shows it, on a stand-in for the host's model. */

import { onTestFinished } from "vitest";
import { page } from "vitest/browser";
import widget from "../../src/host/widget.ts";
import type { Choices } from "../../src/state/choices.ts";
import { parts } from "../support/locators.ts";
import { FakeModel } from "../support/model.ts";
import { restPointer, twoFrames } from "../support/place.ts";
import { blockOf, bytes, RECORD, type SentRecord } from "../support/vectors.ts";
import { zlib } from "../support/zlib.ts";

/** Hosts deliver bytes as DataViews, or as typed arrays. */
const dataView = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength);

export function sentBlock(key: string, { blocks }: SentRecord = RECORD) {
  const { parts, buffers } = blockOf(blocks[key]);
  return { parts, buffers: buffers.map(dataView) };
}

/** Blocks as `widget.embed()` puts them into the state. */
export const embedded = (keys: readonly string[], record: SentRecord = RECORD) =>
  Object.fromEntries(
    keys.map((key) => {
      const { parts, buffers } = blockOf(record.blocks[key]);
      const data = new Uint8Array(buffers.flatMap((buffer) => [...buffer]));
      return [key, { parts, error: null, data: dataView(zlib(data)) }];
    }),
  );

/** A new widget's model, but for what is given. */
export function modelOf(
  traits: Partial<Choices> & Record<string, unknown> = {},
  record: SentRecord = RECORD,
): FakeModel {
  return new FakeModel({
    ...{ view: "head", stack: "self", layer: 0, head: 0, heads: null },
    ...{ query: null, key: null, segments: "all", theme: "auto" },
    _manifest: record.manifest,
    _overview: dataView(bytes(record.overview)),
    _blocks: {},
    ...traits,
  });
}

let count = 0;

/** One view of a model. */
export async function rendered(model: FakeModel, { disconnected = false } = {}) {
  await page.viewport(1200, 1000);
  await restPointer();
  const el = document.createElement("div");
  el.dataset.testid = `view-${count++}`;
  el.classList.toggle("jupyter-widgets-disconnected", disconnected);
  document.body.append(el);
  const cleanup = widget.render({ model, el });
  onTestFinished(() => {
    cleanup();
    el.remove();
  });
  // Requests go with a frame.
  await twoFrames();
  return {
    el,
    cleanup,
    root: el.firstElementChild?.shadowRoot?.querySelector(".root") as HTMLElement,
    ...parts(page.getByTestId(el.dataset.testid)),
  };
}

/** Answer every request that has come, as the kernel would. */
export function answer(model: FakeModel): void {
  for (const { id, stack, layer } of model.sent) {
    const { parts, buffers } = sentBlock(`${stack}.${layer}`);
    model.deliver({ id, parts }, buffers);
  }
}

export const press = (root: HTMLElement, key: string) =>
  root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
