/** The self-contained page: everything is in it, written by `attnwidget/export/page.py`. */

import { mount } from "./app.ts";
import type { Choices } from "./choices.ts";
import { type Block, blockTitle, byteLength, type Part } from "./data/codec.ts";
import { readManifest } from "./data/manifest.ts";
import { type Source, Store } from "./data/store.ts";
import { watchErrors } from "./parts/alert.ts";
import { el } from "./parts/dom.ts";
import { capitalized } from "./parts/text.ts";
import { createState } from "./state.ts";

interface Content {
  manifest: unknown;
  overview: string;
  choices: Choices;
}

interface Embedded {
  parts: Part[];
  data: string;
}

function start(): void {
  const main = document.querySelector<HTMLElement>("[data-attnwidget]");
  if (!main) return;
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
    async block(stack, layer): Promise<Block> {
      const key = `${stack}.${layer}`;
      const script = scripts.find((candidate) => candidate.getAttribute("data-block") === key);
      if (!script) throw new Error(`${capitalized(blockTitle(layer))} is not in this page.`);
      const { parts, data } = read<Embedded>(script);
      const all = bytes(data);
      let end = 0;
      const buffers = parts.map((part) => {
        const start = end;
        end += byteLength(part);
        return all.subarray(start, end);
      });
      return { parts, buffers };
    },
  };
}

function read<Type>(script: Element | null): Type {
  if (!script?.textContent) throw new Error("a part is missing");
  return JSON.parse(script.textContent) as Type;
}

function bytes(base64: string): Uint8Array {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < out.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

start();
