/** The self-contained page: everything is in it, written by `attnwidget/export/page.py`. */

import { mount } from "./app.ts";
import type { Choices } from "./choices.ts";
import { blockTitle } from "./data/codec.ts";
import { readManifest } from "./data/manifest.ts";
import { type Packed, unpack } from "./data/packed.ts";
import { type Source, Store } from "./data/store.ts";
import { watchErrors } from "./parts/alert.ts";
import { el } from "./parts/dom.ts";
import { capitalized } from "./parts/text.ts";
import { createState } from "./state.ts";
import { isWorker, serve } from "./worker/main.ts";
import { workWith } from "./worker/page-worker.ts";

interface Content {
  manifest: unknown;
  overview: string;
  choices: Choices;
}

interface Embedded extends Packed {
  data: string;
}

function start(): void {
  const main = document.querySelector<HTMLElement>("[data-attnwidget]");
  if (!main) return;
  const script = document.currentScript?.textContent;
  if (script) workWith(script, "classic");
  try {
    const content = read<Content>(document.querySelector("[data-content]"));
    const manifest = readManifest(content.manifest);
    const store = new Store(manifest, bytes(content.overview), source());
    main.replaceChildren();
    const state = createState(manifest, content.choices);
    mount(main, store, state);
    // Nothing else runs in this page.
    watchErrors(state, () => true);
  } catch (error) {
    main.replaceChildren(el("p", { role: "alert" }, `This page is damaged: ${error}`));
  }
}

/** Blocks stay text in the page until a layer is opened. */
function source(): Source {
  const scripts = [...document.querySelectorAll("[data-block]")];
  return {
    async block(stack, layer) {
      const key = `${stack}.${layer}`;
      const script = scripts.find((candidate) => candidate.getAttribute("data-block") === key);
      if (!script) throw new Error(`${capitalized(blockTitle(layer))} is not in this page.`);
      const { data, ...packed } = read<Embedded>(script);
      return unpack(packed, bytes(data));
    },
    combines: () => false,
  };
}

function read<Type>(script: Element | null): Type {
  if (!script?.textContent) throw new Error("a part is missing");
  return JSON.parse(script.textContent) as Type;
}

/** Many times faster than `atob`, where a browser has it. */
const fromBase64 = (Uint8Array as { fromBase64?: (text: string) => Uint8Array }).fromBase64;

function bytes(base64: string): Uint8Array {
  if (fromBase64) return fromBase64.call(Uint8Array, base64);
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < out.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

if (isWorker) serve();
else start();
