/** The whole app in one element: header, current view and footer. It knows nothing of notebooks. */

import { computed, signal, untracked } from "@preact/signals-core";
import type { Store } from "./data/store.ts";
import { type FigureKind, figure } from "./painting/figure.ts";
import { alertBar } from "./parts/alert.ts";
import { copyMenu } from "./parts/copy.ts";
import { el } from "./parts/dom.ts";
import { findBox } from "./parts/find.ts";
import { footer, printed } from "./parts/footer.ts";
import { header } from "./parts/header.ts";
import { help } from "./parts/help.ts";
import { notes } from "./parts/notes.ts";
import { saveMenu } from "./parts/save.ts";
import { bindKeys } from "./parts/shortcuts.ts";
import { themeMenu } from "./parts/theme-menu.ts";
import { tour } from "./parts/tour.ts";
import type { Scope } from "./scheduling/scope.ts";
import type { ViewName } from "./state/choices.ts";
import type { Side, State } from "./state/state.ts";
import { palette as paletteOf } from "./styles/palette.ts";
import { BODY_PADDING, styleSheet } from "./styles/style-sheet.ts";
import { isDark, watchResolution, watchSurroundings } from "./styles/surroundings.ts";
import { headView } from "./views/head/head.ts";
import { modelView } from "./views/model/model.ts";
import { neuronView } from "./views/neuron/neuron.ts";
import type { Context, View } from "./views/shared/view.ts";

const VIEWS: Record<ViewName, (context: Context) => View> = {
  head: headView,
  model: modelView,
  neuron: neuronView,
};

/** Show a record inside `parent` until the scope ends. If that fails, the scope is ended. */
export function mount(scope: Scope, parent: HTMLElement, store: Store, state: State): void {
  // Letters and digits are shortcuts in notebooks, unless the focused element says this. JupyterLab
  // sees the host of the shadow root as focused, and nothing inside.
  const host = el("div", { "data-lm-suppress-shortcuts": "true" });
  scope.onEnd(() => host.remove());
  parent.append(host);
  try {
    build(scope, host, store, state);
  } catch (error) {
    scope.end();
    throw error;
  }
}

function build(scope: Scope, host: HTMLElement, store: Store, state: State): void {
  const shadow = host.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [styleSheet()];

  const dark = signal(false);
  /** True while a figure is painted, which is light: most pages are white. */
  const onPaper = signal(false);
  const palette = computed(() => {
    const { value } = state.theme;
    return paletteOf(value === "auto" ? dark.value && !onPaper.value : value === "dark");
  });
  const width = signal(0);
  const resolution = signal(devicePixelRatio);
  const look = () => {
    if (host.isConnected) dark.value = isDark(host);
  };
  watchSurroundings(look, scope.signal);
  watchResolution(() => {
    resolution.value = devicePixelRatio;
  }, scope.signal);

  const view = signal<View | null>(null);
  const tools = el("div", { class: "tools" });
  const body = el("div", { class: "body", id: "view", role: "tabpanel" });
  // Focusable, so that keys work after a click on something that is not focusable. Left to right
  // even in a page that is written from right to left.
  const root = el("div", { class: "root", tabindex: -1, dir: "ltr" });
  const leave = () => (body.querySelector<HTMLElement>("[tabindex='0']") ?? root).focus();

  const message = signal<string | null>(null);
  const status = computed(() => view.value?.status.value ?? []);
  const legend = computed(() => view.value?.legend.value ?? []);
  const tables = computed(() => view.value?.tables.value ?? []);

  const around = tour(scope, { root, state, manifest: store.manifest, status });
  const keys = help(around.start, state.views);
  // The focused option: an option may stand for a word, of which the token is a part.
  const option = (side: Side) => shadow.querySelector<HTMLElement>(`.tokens.${side} .focused`);
  const find = findBox(scope, { state, option, leave });
  const copy = copyMenu(scope, tables, (text) => {
    message.value = text;
  });
  const save = saveMenu(scope, {
    figure: savedAs,
    say: (text) => {
      message.value = text;
    },
  });
  function savedAs(kind: FigureKind) {
    const shown = view.peek();
    const details = shown?.figure();
    if (!shown || !details) return null;
    onPaper.value = true;
    try {
      const { model } = store.manifest;
      const notes = [shown.status.value, shown.legend.value, [details.note]];
      const file = figure(kind, {
        root,
        body,
        heading: el("div", { class: "figure-heading" }, details.heading),
        caption: el("div", { class: "figure-caption" }, ...notes.map(printed)),
        cropped: details.cropped,
        background: palette.value.background,
        title: model ? `Attention of ${model}` : "Attention",
        name: details.name,
      });
      return { name: details.name, file };
    } finally {
      onPaper.value = false;
    }
  }

  const theme = themeMenu(scope, state);
  const common = [find.element, copy.element, save.element, theme, keys.button];
  const head = header(scope, state, store, tools, ...common);
  const alert = alertBar(scope, state, leave);
  const note = notes(scope, state, store.manifest.missing);
  const statusOrMessage = computed(() => (message.value === null ? status.value : [message.value]));
  const foot = footer(scope, statusOrMessage, legend);
  root.append(head, alert, note, body, foot, keys.panel, ...around.elements);
  shadow.append(root);
  bindKeys(
    root,
    state,
    {
      help: keys.toggle,
      find: find.focus,
      copy: copy.first,
      save: save.first,
      jump: (by) => view.peek()?.jump?.(by),
    },
    scope.signal,
  );

  // The host is detached at first, or has no width; it has both before the observer's first call.
  const measure = () => {
    look();
    width.value = Math.floor(body.clientWidth - 2 * BODY_PADDING.x);
  };
  scope.onResize(body, measure);

  scope.effect(() => {
    root.dataset.theme = palette.value.dark ? "dark" : "light";
    for (const [name, value] of Object.entries(palette.value)) {
      root.style.setProperty(`--${name}`, `${value}`);
    }
  });
  let viewScope = scope.child();
  scope.effect(() => {
    const name = state.view.value;
    // Canvases are rebuilt for another resolution.
    resolution.value;
    untracked(() => {
      state.hover.value = null;
      const active = shadow.activeElement;
      const focused = body.contains(active) || tools.contains(active);
      viewScope.end();
      viewScope = scope.child();
      const next = VIEWS[name]({ scope: viewScope, store, state, palette, width });
      body.replaceChildren(next.element);
      tools.replaceChildren(...next.tools);
      body.setAttribute("aria-labelledby", `tab-${name}`);
      view.value = next;
      root.dataset.view = name;
      // Keep the focus in the view, or keys would go to the page around it.
      if (focused) leave();
    });
  });
  scope.effect(() => {
    status.value;
    message.value = null;
  });
}
