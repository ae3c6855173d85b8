/** The whole app in one element: header, current view and footer. It knows nothing of notebooks. */

import { computed, type ReadonlySignal, signal, untracked } from "@preact/signals-core";
import type { Manifest } from "./data/manifest.ts";
import type { Store } from "./data/store.ts";
import { canvasFigure, type FigureOptions, figure } from "./painting/figure.ts";
import { copyMenu } from "./parts/copy.ts";
import { el } from "./parts/dom.ts";
import { changedStore } from "./parts/effects/measured.ts";
import { effectsPanel } from "./parts/effects/panel.ts";
import { type Finds, findBox, findHead } from "./parts/find.ts";
import { footer, printed } from "./parts/footer.ts";
import { header, type Idle, recordNames, themeMenu } from "./parts/header.ts";
import { help } from "./parts/help.ts";
import { alertBar, notes } from "./parts/notes.ts";
import { pairChip, showLinking } from "./parts/pair.ts";
import { printAsFigure, saveMenu } from "./parts/save.ts";
import { bindKeys } from "./parts/shortcuts.ts";
import { type Phrase, strong } from "./parts/text.ts";
import { tour } from "./parts/tour.ts";
import type { Scope } from "./scheduling/scope.ts";
import type { HeadPlace, ViewName } from "./state/choices.ts";
import { toggleCut } from "./state/off.ts";
import type { Side, State } from "./state/state.ts";
import { palette as paletteOf } from "./styles/palette.ts";
import { BODY_PADDING, styleSheet } from "./styles/style-sheet.ts";
import {
  isDark,
  visibleHeight,
  watchResolution,
  watchSurroundings,
} from "./styles/surroundings.ts";
import { VIEWS } from "./views/index.ts";
import type { View } from "./views/shared/view.ts";

/** The surroundings of a view in its page. */
export interface Around {
  /** The height of what is in sight beside the view, as a notebook's toolbar, in CSS pixels. */
  readonly height: number;
  /** True if the view is the only one, and takes the keys that nothing else has. */
  readonly alone: boolean;
  /** The link to what the page shows; none where it has no address. */
  readonly link?: (() => string) | undefined;
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

type Frame = ReturnType<typeof frame>;

/** The elements around the views, their colours and the space that a view has. */
function frame(scope: Scope, host: HTMLElement, { theme }: State, around: Around) {
  const shadow = host.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [styleSheet()];
  /** The controls of the view, in the header. */
  const tools = el("div", { class: "tools" });
  const body = el("div", { class: "body", id: "view", role: "tabpanel" });
  /** The view and the panel of what is off. */
  const main = el("div", { class: "main" }, body);
  // Focusable, so that keys work after a click on something that is not focusable. Left to right
  // even in a page that is written from right to left.
  const root = el("div", { class: "root", tabindex: -1, dir: "ltr" }, main);
  shadow.append(root);

  const dark = signal(false);
  /** True while a figure is painted, which is light: most pages are white. */
  const onPaper = signal(false);
  const palette = computed(() =>
    paletteOf(theme.value === "auto" ? dark.value && !onPaper.value : theme.value === "dark"),
  );
  const look = () => {
    if (host.isConnected) dark.value = isDark(host);
  };
  watchSurroundings(look, scope.signal);
  const resolution = signal(devicePixelRatio);
  watchResolution(() => {
    resolution.value = devicePixelRatio;
  }, scope.signal);
  scope.effect(() => {
    root.dataset.theme = palette.value.dark ? "dark" : "light";
    for (const [name, value] of Object.entries(palette.value)) {
      root.style.setProperty(`--${name}`, `${value}`);
    }
  });

  const [width, height] = [signal(0), signal(HIGHEST)];
  /** Give the view the space that `panel`, the header and the status line leave. */
  function fit(panel: HTMLElement, ...others: readonly HTMLElement[]): void {
    // The host is detached at first, or has no width; it has both before the observer's first call.
    const measure = () => {
      look();
      width.value = Math.floor(body.clientWidth - 2 * BODY_PADDING.x);
      // The header and the status line stay in sight: the body scrolls between them.
      // Of fractions: rounded, each for itself, they would differ by the height of the view.
      const tall = (of: Element) => Number.parseFloat(getComputedStyle(of).height);
      const room = visibleHeight() - around.height - Math.round(tall(root) - tall(main));
      const beside = getComputedStyle(main).flexDirection === "row";
      // A panel below the view leaves most of the room to it.
      root.style.setProperty("--below", `${Math.round(Math.max(LOWEST, room) * BELOW)}px`);
      const left = beside ? room : room - panel.offsetHeight;
      const highest = Math.max(LOWEST, Math.min(HIGHEST, left));
      root.style.setProperty("--highest", `${highest}px`);
      height.value = highest - 2 * BODY_PADDING.y;
    };
    for (const element of [body, panel, ...others]) scope.onResize(element, measure);
    addEventListener("resize", measure, { signal: scope.signal });
  }
  /** Move the focus to the view. */
  const leave = () =>
    (body.querySelector<HTMLElement>("[tabindex='0']:not(button)") ?? root).focus();
  const elements = { shadow, root, main, body, tools };
  return { ...elements, palette, onPaper, resolution, width, height, leave, fit };
}

/**
 * Mount the chosen view in the frame, again for another store or resolution.
 *
 * @returns the view, and what it shows: the record, or the attention without what is off
 */
function mountViews(scope: Scope, frame: Frame, state: State, store: Store) {
  const { shadow, root, body, tools, palette, onPaper, width, height } = frame;
  const view = signal<View | null>(null);
  const changed = changedStore(scope, state, store);
  const shownStore = computed(() => changed.value ?? store);
  /** Where each view was scrolled to, from left and top. */
  const scrolled = new Map<ViewName, readonly [number, number]>();
  let shown = state.view.peek();
  let viewScope = scope.child();
  scope.effect(() => {
    const name = state.view.value;
    const source = shownStore.value;
    // Canvases are rebuilt for another resolution.
    frame.resolution.value;
    // The tour restores the reader's view as it ends.
    if (scope.signal.aborted) return;
    untracked(() => {
      state.hover.value = null;
      state.opening.value = null;
      const active = shadow.activeElement;
      const focused = body.contains(active) || tools.contains(active);
      viewScope.end();
      viewScope = scope.child();
      // A view must not meet layers of another manifest.
      view.value = null;
      state.manifest.value = source.manifest;
      const space = { palette, width, height, onPaper };
      const next = VIEWS[name].mount({ scope: viewScope, store: source, state, ...space });
      scrolled.set(shown, [body.scrollLeft, body.scrollTop]);
      body.replaceChildren(next.element);
      body.scrollTo(0, 0);
      const before = scrolled.get(name);
      // Once its effects have run, it has its height.
      if (before) queueMicrotask(() => body.scrollTo(...before));
      shown = name;
      tools.replaceChildren(...next.tools);
      body.setAttribute("aria-labelledby", `tab-${name}`);
      view.value = next;
      root.dataset.view = name;
      // Keep the focus in the view, or keys would go to the page around it.
      if (focused) frame.leave();
    });
  });
  return { view, store: shownStore };
}

/** A painter of what is shown as a figure, with its lines of text; it gives null if nothing is. */
function figures(
  { root, body, palette, onPaper }: Frame,
  { model }: Manifest,
  shownView: ReadonlySignal<View | null>,
  legend: ReadonlySignal<Phrase>,
) {
  return <Result>(use: (options: FigureOptions) => Result): Result | null => {
    const view = shownView.peek();
    const details = view?.figure();
    if (!view || !details) return null;
    onPaper.value = true;
    try {
      const notes = [view.status.value, legend.value, [details.note]];
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
  };
}

const BUSY: Idle = { layer: "", head: "" };

function build(scope: Scope, host: HTMLElement, store: Store, state: State, around: Around): void {
  const { manifest } = store;
  const framed = frame(scope, host, state, around);
  const { shadow, root, main, tools, leave } = framed;
  const effects = effectsPanel(scope, state, store, leave);
  const { view, store: shownStore } = mountViews(scope, framed, state, store);

  const status = computed(() => view.value?.status.value ?? []);
  const legend = computed(() => {
    const shown = view.value?.legend.value ?? [];
    if (shownStore.value === store) return shown;
    return [strong("attention without what is off"), "   ", ...shown];
  });
  const tables = computed(() => [...(view.value?.tables.value ?? []), ...effects.tables.value]);
  const message = signal<string | null>(null);
  scope.effect(() => {
    status.value;
    message.value = null;
  });
  const say = (text: string) => {
    message.value = text;
  };

  const views = state.views.map((name) => VIEWS[name]);
  const guide = tour(scope, { root, state, manifest, views, status });
  const { compared } = manifest;
  const keys = help(guide.start, views, Boolean(compared));
  const finds = computed<Finds>(() => {
    const shown = view.value?.finds;
    return shown ? shown.value : "tokens";
  });
  // The focused option: an option may stand for a word, of which the token is a part.
  const option = (side: Side) => shadow.querySelector<HTMLElement>(`.tokens.${side} .focused`);
  const find = findBox(scope, { state, finds, option, leave });
  const headFinder = findHead(scope, { state, finds, leave });
  const copy = copyMenu(scope, tables, status, say, around.link);
  const painted = figures(framed, manifest, view, legend);
  const save = saveMenu(scope, {
    figure: (kind) => painted((options) => ({ name: options.name, file: figure(kind, options) })),
    keep: () => store.source.keep,
    live: () => store.live,
    say,
  });
  printAsFigure(scope, root, () => painted(canvasFigure));

  const theme = themeMenu(scope, state);
  const common = [find.element, headFinder.element, copy.element, save.element, theme, keys.button];
  const idle = computed(() => view.value?.idle?.value ?? BUSY);
  const head = header(scope, state, store, { tabs: views, idle, tools, shown: view, common });
  const alert = alertBar(scope, state, leave);
  const note = notes(scope, state, manifest.missing);
  const statusOrMessage = computed(() => (message.value === null ? status.value : [message.value]));
  const hovered = computed(() => state.hover.value !== null);
  const chip = pairChip(scope, state, leave);
  const foot = footer(scope, statusOrMessage, legend, hovered, chip);
  const names = compared ? [recordNames(compared)] : [];
  main.append(effects.element);
  root.prepend(head, ...names, alert, note);
  root.append(foot, keys.panel, ...guide.elements);
  framed.fit(effects.element, head, note, foot);

  const actions = {
    help: keys.toggle,
    find: () => (finds.peek() === "heads" ? headFinder : find).focus(),
    copy: copy.first,
    save: save.first,
    pair() {
      const whyNot = showLinking(state);
      if (whyNot) say(whyNot);
    },
    jump: (by: 1 | -1) => view.peek()?.jump?.(by),
    head: () => {
      const { layer, head } = state.shown;
      return view.peek()?.head?.() ?? { layer: layer.peek(), head: head.peek() };
    },
    cut(at: HeadPlace | null) {
      if (!toggleCut(state, at)) say("To cut links, point at a token or lock one first");
    },
    releaseOwn: () => view.peek()?.release?.() ?? false,
    ofView: (key: string) => view.peek()?.keys?.[key],
  };
  bindKeys(root, state, actions, scope.signal);
  // The body of the page has the focus while nothing else has it.
  if (around.alone) bindKeys(document.body, state, actions, scope.signal, document.body);
}
