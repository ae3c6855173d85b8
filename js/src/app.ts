/** The whole app in one element: header, current view and footer. It knows nothing of notebooks. */

import { batch, computed, signal, untracked } from "@preact/signals-core";
import type { Store } from "./data/store.ts";
import { canvasFigure, type FigureOptions, figure } from "./painting/figure.ts";
import { alertBar } from "./parts/alert.ts";
import { recordNames } from "./parts/compared.ts";
import { copyMenu } from "./parts/copy.ts";
import { el } from "./parts/dom.ts";
import { changedStore } from "./parts/effects/changed.ts";
import { effectsPanel } from "./parts/effects/panel.ts";
import { findBox } from "./parts/find.ts";
import { findHead } from "./parts/find-head.ts";
import { footer, printed } from "./parts/footer.ts";
import { header } from "./parts/header.ts";
import { help } from "./parts/help.ts";
import { notes } from "./parts/notes.ts";
import { printAsFigure } from "./parts/print.ts";
import { saveMenu } from "./parts/save.ts";
import { bindKeys } from "./parts/shortcuts.ts";
import { strong } from "./parts/text.ts";
import { themeMenu } from "./parts/theme-menu.ts";
import { tour } from "./parts/tour.ts";
import type { Scope } from "./scheduling/scope.ts";
import type { ViewName } from "./state/choices.ts";
import { type HeadAt, toggleCut } from "./state/cut.ts";
import type { Side, State } from "./state/state.ts";
import { palette as paletteOf } from "./styles/palette.ts";
import { BODY_PADDING, styleSheet } from "./styles/style-sheet.ts";
import {
  isDark,
  visibleHeight,
  watchResolution,
  watchSurroundings,
} from "./styles/surroundings.ts";
import { headView } from "./views/head/head.ts";
import { mapView } from "./views/map/map.ts";
import { modelView } from "./views/model/model.ts";
import { neuronView } from "./views/neuron/neuron.ts";
import type { Context, View } from "./views/shared/view.ts";

const VIEWS: Record<ViewName, (context: Context) => View> = {
  head: headView,
  model: modelView,
  neuron: neuronView,
  map: mapView,
};

/** The surroundings of a view in its page. */
export interface Around {
  /** The height of what is in sight beside the view, as a notebook's toolbar, in CSS pixels. */
  readonly height: number;
  /** True if the view is the only one, and takes the keys that nothing else has. */
  readonly alone: boolean;
}

const NOTEBOOK: Around = { height: 150, alone: false };

/** The most and the least height of the body, in CSS pixels. */
const HIGHEST = 860;
const LOWEST = 240;
/** The largest share of the height that a panel below the view takes. */
const BELOW = 0.4;

/** Show a record inside `parent` until the scope ends. If that fails, the scope is ended. */
export function mount(
  scope: Scope,
  parent: HTMLElement,
  store: Store,
  state: State,
  around = NOTEBOOK,
): void {
  // Letters and digits are shortcuts in notebooks, unless the focused element says this. JupyterLab
  // sees the host of the shadow root as focused, and nothing inside.
  const host = el("div", { "data-lm-suppress-shortcuts": "true" });
  scope.onEnd(() => host.remove());
  parent.append(host);
  try {
    build(scope, host, store, state, around);
  } catch (error) {
    scope.end();
    throw error;
  }
}

/** Move the focus to the view inside `parent`, as where another one has had it. */
export function focusView(parent: HTMLElement): void {
  parent.lastElementChild?.shadowRoot?.querySelector<HTMLElement>(".root")?.focus();
}

function build(scope: Scope, host: HTMLElement, store: Store, state: State, around: Around): void {
  const shadow = host.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [styleSheet()];

  const dark = signal(false);
  /** True while a figure is painted, which is light: most pages are white. */
  const onPaper = signal(false);
  const palette = computed(() => {
    const { value } = state.theme;
    return paletteOf(value === "auto" ? dark.value && !onPaper.value : value === "dark");
  });
  const [width, height] = [signal(0), signal(HIGHEST)];
  const resolution = signal(devicePixelRatio);
  const look = () => {
    if (host.isConnected) dark.value = isDark(host);
  };
  watchSurroundings(look, scope.signal);
  watchResolution(() => {
    resolution.value = devicePixelRatio;
  }, scope.signal);

  const view = signal<View | null>(null);
  /** The record's, or that of the attention without what is off. */
  const shownStore = signal(store);
  const tools = el("div", { class: "tools" });
  const body = el("div", { class: "body", id: "view", role: "tabpanel" });
  // Focusable, so that keys work after a click on something that is not focusable. Left to right
  // even in a page that is written from right to left.
  const root = el("div", { class: "root", tabindex: -1, dir: "ltr" });
  const leave = () => (body.querySelector<HTMLElement>("[tabindex='0']") ?? root).focus();

  const message = signal<string | null>(null);
  const status = computed(() => view.value?.status.value ?? []);
  const legend = computed(() => {
    const shown = view.value?.legend.value ?? [];
    if (shownStore.value === store) return shown;
    return [strong("attention without what is off"), "   ", ...shown];
  });
  const effects = effectsPanel(scope, state, store, () => leave());
  const tables = computed(() => [...(view.value?.tables.value ?? []), ...effects.tables.value]);

  const guide = tour(scope, { root, state, manifest: store.manifest, status });
  const { compared } = store.manifest;
  const keys = help(guide.start, state.views, Boolean(compared));
  // The focused option: an option may stand for a word, of which the token is a part.
  const option = (side: Side) => shadow.querySelector<HTMLElement>(`.tokens.${side} .focused`);
  const find = findBox(scope, { state, option, leave });
  const headFinder = findHead(scope, state, leave);
  const copy = copyMenu(scope, tables, (text) => {
    message.value = text;
  });
  const save = saveMenu(scope, {
    figure: (kind) =>
      withFigure((options) => ({ name: options.name, file: figure(kind, options) })),
    say: (text) => {
      message.value = text;
    },
  });
  printAsFigure(scope, root, () => withFigure(canvasFigure));
  function withFigure<Result>(use: (options: FigureOptions) => Result): Result | null {
    const shown = view.peek();
    const details = shown?.figure();
    if (!shown || !details) return null;
    onPaper.value = true;
    try {
      const { model } = store.manifest;
      const notes = [shown.status.value, legend.value, [details.note]];
      return use({
        root,
        body,
        heading: el("div", { class: "figure-heading" }, details.heading),
        caption: el("div", { class: "figure-caption" }, ...notes.map(printed)),
        cropped: details.cropped,
        background: palette.value.background,
        title: model ? `Attention of ${model}` : "Attention",
        name: details.name,
      });
    } finally {
      onPaper.value = false;
    }
  }

  const theme = themeMenu(scope, state);
  const common = [find.element, headFinder.element, copy.element, save.element, theme, keys.button];
  const head = header(scope, state, store, tools, ...common);
  const alert = alertBar(scope, state, leave);
  const note = notes(scope, state, store.manifest.missing);
  const statusOrMessage = computed(() => (message.value === null ? status.value : [message.value]));
  const hovered = computed(() => state.hover.value !== null);
  const foot = footer(scope, statusOrMessage, legend, hovered);
  const main = el("div", { class: "main" }, body, effects.element);
  const names = compared ? [recordNames(compared)] : [];
  root.append(head, ...names, alert, note, main, foot, keys.panel, ...guide.elements);
  shadow.append(root);
  const actions = {
    help: keys.toggle,
    find: () => (state.view.peek() === "map" ? headFinder : find).focus(),
    copy: copy.first,
    save: save.first,
    jump: (by: 1 | -1) => view.peek()?.jump?.(by),
    head: () => {
      const { layer, head } = state.shown;
      return view.peek()?.head?.() ?? { layer: layer.peek(), head: head.peek() };
    },
    cut(at: HeadAt | null) {
      if (!toggleCut(state, at)) message.value = "To cut links, point at a token or lock one first";
    },
    ofView: (key: string) => view.peek()?.keys?.[key],
  };
  bindKeys(root, state, actions, scope.signal);
  // The body of the page has the focus while nothing else has it.
  if (around.alone) bindKeys(document.body, state, actions, scope.signal, document.body);

  // The host is detached at first, or has no width; it has both before the observer's first call.
  const measure = () => {
    look();
    width.value = Math.floor(body.clientWidth - 2 * BODY_PADDING.x);
    // The header and the status line stay in sight: the body scrolls between them.
    const room = visibleHeight() - around.height - (root.offsetHeight - main.offsetHeight);
    const beside = getComputedStyle(main).flexDirection === "row";
    // A panel below the view leaves most of the room to it.
    root.style.setProperty("--below", `${Math.round(Math.max(LOWEST, room) * BELOW)}px`);
    const left = beside ? room : room - effects.element.offsetHeight;
    const highest = Math.max(LOWEST, Math.min(HIGHEST, left));
    root.style.setProperty("--highest", `${highest}px`);
    height.value = highest - 2 * BODY_PADDING.y;
  };
  for (const element of [body, head, note, foot, effects.element]) scope.onResize(element, measure);
  addEventListener("resize", measure, { signal: scope.signal });

  scope.effect(() => {
    root.dataset.theme = palette.value.dark ? "dark" : "light";
    for (const [name, value] of Object.entries(palette.value)) {
      root.style.setProperty(`--${name}`, `${value}`);
    }
  });
  let viewScope = scope.child();
  const changed = changedStore(scope, state, store);
  scope.effect(() => {
    const next = changed.value ?? store;
    untracked(() => {
      if (next === shownStore.peek()) return;
      // A view must not meet layers of another manifest.
      viewScope.end();
      view.value = null;
      batch(() => {
        state.manifest.value = next.manifest;
        shownStore.value = next;
      });
    });
  });
  scope.effect(() => {
    const name = state.view.value;
    const source = shownStore.value;
    // Canvases are rebuilt for another resolution.
    resolution.value;
    // The tour restores the reader's view as it ends.
    if (scope.signal.aborted) return;
    untracked(() => {
      state.hover.value = null;
      state.opening.value = null;
      const active = shadow.activeElement;
      const focused = body.contains(active) || tools.contains(active);
      viewScope.end();
      viewScope = scope.child();
      const around = { palette, width, height, onPaper };
      const next = VIEWS[name]({ scope: viewScope, store: source, state, ...around });
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
