/** The entry point of notebooks: creates a store and a state from an anywidget model. */

import type { Signal } from "@preact/signals-core";
import { focusView, mount } from "../app.ts";
import { same } from "../basics/same.ts";
import type { PackedBlock } from "../data/codec.ts";
import type { Manifest } from "../data/manifest.ts";
import {
  readArcs,
  readExamples,
  readManifest,
  readMetrics,
  readSimilarity,
} from "../data/read-manifest.ts";
import { bytesOf, type Channel, type Off, Requests } from "../data/requests.ts";
import { type Source, Store } from "../data/store.ts";
import { el } from "../parts/dom.ts";
import { notSaved } from "../parts/fidelity.ts";
import { watchErrors } from "../parts/notes.ts";
import { isWorker, serve } from "../raster/worker/main.ts";
import { workWith } from "../raster/worker/page-worker.ts";
import { nextFrame } from "../scheduling/frame.ts";
import { Scope } from "../scheduling/scope.ts";
import { CHOICES, type Choices } from "../state/choices.ts";
import { accept, createState, type State } from "../state/state.ts";

interface Model extends Channel {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, handler: (...args: never[]) => void): void;
  off(event: string, handler: (...args: never[]) => void): void;
}

/** Render a view. Nothing is shared between the views of a model, where hosts differ. */
function render({ model, el: parent }: { model: Model; el: HTMLElement }): () => void {
  const scope = new Scope();
  // Some hosts do not pass the script on; there is no worker then.
  const script = model.get("_esm");
  if (typeof script === "string") workWith(script, "module");
  let shown = scope.child();
  show(shown, model, parent);
  // The kernel has opened another text.
  const replace = () => {
    const focused = parent.matches(":focus-within");
    shown.end();
    shown = scope.child();
    show(shown, model, parent);
    if (focused) focusView(parent);
  };
  listen(model, "change:_manifest", replace, scope.signal);
  return () => scope.end();
}

/** Show the model's record until the scope ends. */
function show(scope: Scope, model: Model, parent: HTMLElement): void {
  // The first of the scope's parts to end, since the tour restores choices then.
  const view = scope.child();
  const { signal } = scope;
  try {
    const manifest = readManifest(model.get("_manifest"));
    const connected = () => isConnected(parent);
    const source = sourceOf(model, manifest, connected, signal);
    const store = new Store(manifest, bytesOf(model.get("_overview")), source);
    listen(model, "change:_blocks", () => store.retry(), signal);
    const state = bindState(model, manifest, scope);
    /** Keep a signal in step with a trait. */
    const follow = <Value>(
      name: string,
      into: Signal<Value>,
      read: (sent: unknown, manifest: Manifest) => Value,
    ) => {
      // Always model.get: what the event carries differs between hosts.
      const take = () => {
        into.value = read(model.get(name), manifest);
      };
      listen(model, `change:${name}`, take, signal);
      take();
    };
    follow("_metrics", state.ownMetrics, readMetrics);
    follow("_arcs", state.arcs, readArcs);
    follow("_similarity", state.similarity, readSimilarity);
    follow("_examples", state.examples, readExamples);
    follow("_note", state.note, (note) => `${note ?? ""}`);
    openExamples(model, state, scope, connected);
    listen(
      model,
      "msg:custom",
      (message: { id?: unknown; error?: unknown } | null) => {
        // A reply to a request has an id, and is handled by its sender.
        if (message?.id === undefined && typeof message?.error === "string") {
          state.error.value = message.error;
          state.opening.value = null;
        }
      },
      signal,
    );
    mount(view, parent, store, state);
    // All code of the view is in this file.
    watchErrors(state, ({ filename }) => filename === import.meta.url, { signal });
  } catch (error) {
    // Otherwise the cell would stay empty.
    const text = error instanceof Error ? error.message : `${error}`;
    const alert = el("p", { role: "alert" }, text);
    parent.append(alert);
    scope.onEnd(() => alert.remove());
  }
}

/** True if a kernel answers. A page exported by marimo drops all messages silently. */
const isConnected = (parent: HTMLElement) =>
  !parent.classList.contains("jupyter-widgets-disconnected") &&
  !("__MARIMO_STATIC__" in globalThis);

/** Ask the kernel for the examples that the reader opens. */
function openExamples(model: Model, state: State, scope: Scope, connected: () => boolean): void {
  scope.effect(() => {
    const asked = state.opening.value;
    if (!asked) return;
    try {
      if (!connected()) throw new Error();
      model.send({ op: "open", ...asked });
    } catch {
      state.opening.value = null;
      state.error.value = "No kernel is connected to read this text: run the cell again.";
    }
  });
}

/** The source of layers: the widget's state for embedded ones, else the kernel. */
function sourceOf(
  model: Model,
  { stacks, compared }: Manifest,
  connected: () => boolean,
  signal: AbortSignal,
): Source {
  const requests = new Requests(model, signal);
  const live = requests.source();
  /** Gives a part of the record that the widget's state has; undefined if it has not. */
  const saved = (stack: string, part: number | string) => {
    const blocks = model.get("_blocks") as Record<string, PackedBlock<ArrayBufferView>> | null;
    const block = blocks?.[`${stack}.${part}`];
    return block && (async () => ({ ...block, data: bytesOf(block.data) }));
  };
  return {
    get combined() {
      return connected() ? live.combined : null;
    },
    get text() {
      return connected() ? live.text : null;
    },
    get keep() {
      if (!connected() || !model.get("_keepable")) return null;
      // The kernel may have heard of only some of them yet.
      const choices = () => Object.fromEntries(CHOICES.map((name) => [name, model.get(name)]));
      return () => model.send({ op: "keep", choices: choices() });
    },
    get effects() {
      return connected() && !compared ? requests : null;
    },
    get cuts() {
      return connected() && !compared ? requests : null;
    },
    get changed() {
      return connected()
        ? (off: Off, abort: AbortSignal) => changedStore(requests, off, abort)
        : null;
    },
    async block(stack, layer, abort) {
      const own = saved(stack, layer);
      if (own) return own();
      if (connected()) return live.block(stack, layer, abort);
      const layers = stacks.find(({ name }) => name === stack)?.layers ?? [];
      throw notSaved(
        layer,
        layers.filter(({ number }) => saved(stack, number)),
      );
    },
    numbers(stack, layer, lens) {
      const own = saved(stack, `${layer}.${lens}`);
      return own ?? (connected() ? live.numbers(stack, layer, lens) : null);
    },
    rows(stack, layer) {
      return saved(stack, layer) || !connected() ? null : live.rows(stack, layer);
    },
  };
}

/** The attention without some heads and links, whose layers come from the kernel. */
async function changedStore(requests: Requests, off: Off, signal: AbortSignal): Promise<Store> {
  const { manifest, overview } = await requests.changed(off, signal);
  return new Store(readManifest(manifest), overview, requests.source(off));
}

/** Bind signals and traits to each other. */
function bindState(model: Model, manifest: Manifest, scope: Scope): State {
  const choices = Object.fromEntries(CHOICES.map((name) => [name, model.get(name)]));
  const state = createState(manifest, choices as Partial<Choices>);
  let saving: (() => void) | null = null;
  const save = () => {
    saving = null;
    model.save_changes();
  };
  for (const name of CHOICES) {
    // Always model.get: what the event carries differs between hosts.
    listen(model, `change:${name}`, () => accept(state, name, model.get(name)), scope.signal);
    let first = true;
    scope.effect(() => {
      const { value } = state[name];
      // The state starts as the model is, and some hosts leave out defaults.
      if (first) {
        first = false;
        return;
      }
      if (same(value, model.get(name))) return;
      model.set(name, value);
      // Save all changes of a frame together.
      saving ??= nextFrame(save);
    });
  }
  scope.onEnd(() => {
    saving?.();
    if (saving) save();
  });
  return state;
}

function listen(
  model: Model,
  event: string,
  handler: (...args: never[]) => void,
  signal: AbortSignal,
): void {
  model.on(event, handler);
  signal.addEventListener("abort", () => model.off(event, handler));
}

if (isWorker) serve();

export default { render };
