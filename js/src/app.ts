/** The whole view in one element: header, the chosen view, status line. Knows no notebook. */

import { computed, effect, signal, untracked } from "@preact/signals-core";
import type { Store } from "./data/store.ts";
import { bindKeys } from "./keys.ts";
import { disposeAll } from "./parts/dispose.ts";
import { el } from "./parts/dom.ts";
import { header } from "./parts/header.ts";
import { help } from "./parts/help.ts";
import { notes } from "./parts/notes.ts";
import type { Phrase } from "./parts/text.ts";
import type { State, ViewName } from "./state.ts";
import { styleSheet } from "./styles.ts";
import { isDark, palette as paletteOf, watchResolution, watchSurroundings } from "./theme.ts";
import { headView } from "./views/head.ts";
import { modelView } from "./views/model.ts";
import { neuronView } from "./views/neuron.ts";
import type { Context, View } from "./views/view.ts";

const VIEWS: Record<ViewName, (context: Context) => View> = {
  head: headView,
  model: modelView,
  neuron: neuronView,
};

/** Show a record inside `parent`. Returns the clean-up. */
export function mount(parent: HTMLElement, store: Store, state: State): () => void {
  const controller = new AbortController();
  // Letters and digits are shortcuts in notebooks, unless the focused element says this. JupyterLab
  // sees the host of the shadow root as focused, and nothing inside.
  const host = el("div", { "data-lm-suppress-shortcuts": "true" });
  const disposers: (() => void)[] = [() => controller.abort(), () => host.remove()];
  const dispose = disposeAll(disposers);
  parent.append(host);
  try {
    build(host, store, state, controller.signal, disposers);
  } catch (error) {
    dispose();
    throw error;
  }
  return dispose;
}

function build(
  host: HTMLElement,
  store: Store,
  state: State,
  abort: AbortSignal,
  disposers: (() => void)[],
): void {
  const shadow = host.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [styleSheet()];

  const dark = signal(false);
  const palette = computed(() => {
    const { value } = state.theme;
    return paletteOf(value === "auto" ? dark.value : value === "dark");
  });
  const width = signal(0);
  const resolution = signal(devicePixelRatio);
  const look = () => {
    if (host.isConnected) dark.value = isDark(host);
  };
  watchSurroundings(look, abort);
  watchResolution(() => {
    resolution.value = devicePixelRatio;
  }, abort);

  const keys = help();
  const [head, disposeHeader] = header(state, store, keys.button);
  const [note, disposeNotes] = notes(state, store.manifest.missing);
  const body = el("div", { class: "body", id: "view", role: "tabpanel" });
  const status = el("div", { class: "status", role: "status" });
  const about = el("div", { class: "about" });
  const footer = el("footer", {}, status, about);
  // Focusable, so that keys work after a click on what is not.
  const root = el("div", { class: "root", tabindex: -1 }, head, keys.panel, note, body, footer);
  shadow.append(root);
  bindKeys(root, state, keys.toggle, abort);
  root.addEventListener("pointerdown", (event) => {
    const target = event.target as Node;
    if (!keys.panel.contains(target) && target !== keys.button) keys.toggle(false);
  });

  // At first the host is detached, or has no width; both come before the observer's first call.
  const measure = () => {
    look();
    width.value = Math.floor(body.clientWidth - 2 * PADDING);
  };
  // A frame later, because what changes size while sizes are observed is a complaint in the console.
  const observer = new ResizeObserver(() => requestAnimationFrame(measure));
  observer.observe(body);

  const context: Context = { store, state, palette, width };
  const view = signal<View | null>(null);
  disposers.push(
    disposeHeader,
    disposeNotes,
    () => observer.disconnect(),
    () => view.peek()?.dispose(),
    effect(() => {
      root.dataset.theme = palette.value.dark ? "dark" : "light";
      for (const [name, value] of Object.entries(palette.value)) {
        root.style.setProperty(`--${name}`, `${value}`);
      }
    }),
    effect(() => {
      const name = state.view.value;
      // Canvases are made for one resolution.
      resolution.value;
      untracked(() => {
        state.hover.value = null;
        const focused = body.contains(shadow.activeElement);
        view.value?.dispose();
        const next = VIEWS[name](context);
        body.replaceChildren(next.element);
        body.setAttribute("aria-labelledby", `tab-${name}`);
        view.value = next;
        // The keyboard stays in the view, or keys would go to the page around it.
        if (focused) (body.querySelector<HTMLElement>("[tabindex='0']") ?? root).focus();
      });
    }),
    effect(() => status.replaceChildren(...phrase(view.value?.status.value ?? []))),
    effect(() => about.replaceChildren(...phrase(view.value?.legend.value ?? []))),
  );
}

const PADDING = 20;

function phrase(parts: Phrase): (Node | string)[] {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    const element = el(part.token ? "bdi" : "span", { class: part.strong && "strong" }, part.text);
    if (part.color) element.style.color = part.color;
    return element;
  });
}
