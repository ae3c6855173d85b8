/** The entry point of self-contained pages, which `attnwidget/page/document.py` writes. */

import { effect, type ReadonlySignal, signal } from "@preact/signals-core";
import { focusView, mount } from "../app.ts";
import { fromBase85 } from "../basics/bytes.ts";
import {
  anything,
  fields,
  flag,
  integer,
  list,
  maybe,
  oneOf,
  orNull,
  type Read,
  type Reader,
  text,
  valid,
} from "../basics/reader.ts";
import type { PackedBlock } from "../data/codec.ts";
import type { Manifest } from "../data/manifest.ts";
import {
  readArcs,
  readExamples,
  readManifest,
  readMetrics,
  readSimilarity,
} from "../data/read-manifest.ts";
import { type Source, Store } from "../data/store.ts";
import { el } from "../parts/dom.ts";
import { leftOut } from "../parts/fidelity.ts";
import { isInUse, watchErrors } from "../parts/notes.ts";
import { isWorker, serve } from "../raster/worker/main.ts";
import { workWith } from "../raster/worker/page-worker.ts";
import { Scope } from "../scheduling/scope.ts";
import { type Asked, askedOf, differing, openAt } from "../state/address.ts";
import { CHOICES, type Choices, VIEWS } from "../state/choices.ts";
import { createState, type State } from "../state/state.ts";
import { isForDark, setWindowHeight } from "../styles/surroundings.ts";
import { type Addressed, followAddress, linkTo } from "./address.ts";
import { unpacked } from "./program.ts";
import type { Elsewhere } from "./record-file.ts";
import { savedEffects } from "./saved-effects.ts";

/** Manifests, choices and metrics are checked when they are read. */
const CONTENT = fields({
  views: list(oneOf(VIEWS), integer(1)),
  /** True if all layers of the records are included. */
  complete: flag,
  /** Records are shared by widgets. */
  records: list(
    fields({ manifest: anything, overview: orNull(fields({ bytes: integer(0), data: text() })) }),
  ),
  widgets: list(
    fields({
      record: integer(0),
      choices: fields({}) as Reader<Partial<Choices>>,
      metrics: anything,
      arcs: anything,
      similarity: anything,
      /** Examples, and the record of each of their texts; null without any. */
      examples: maybe(fields({ records: list(integer(0)) })),
      effects: anything,
      note: text(),
    }),
  ),
});

type Content = Read<typeof CONTENT>;

type Opened = Awaited<ReturnType<typeof opened>>;

/** The padding of the page above and below, as `attnwidget/page/document.py` has it. */
const MARGIN = 32;
/** The bars of the program around a frame. */
const BARS = 150;

async function start(): Promise<void> {
  const main = document.querySelector<HTMLElement>("[data-attnwidget]");
  if (!main) return;
  const script = document.currentScript?.textContent;
  if (script) workWith(script, "classic");
  const fail = (error: unknown) =>
    main.append(el("p", { role: "alert" }, `This page is damaged: ${error}`));
  main.replaceChildren();
  // The page around a frame has margins of its own.
  if (parent !== window) document.documentElement.classList.add("no-margin");
  if (isFramed()) followFrame(main);
  try {
    const content = await opened(read(document.querySelector("[data-content]")));
    const asked = askedOf(location.hash.slice(1), content.widgets.length);
    const states: ReadonlySignal<State>[] = [];
    const views: Addressed[] = [];
    // The address of a frame is not seen.
    const link = parent === window ? () => linkTo(views) : undefined;
    for (const [at, widget] of content.widgets.entries()) {
      try {
        const { state, view } = show(main, content, widget, asked[at], link);
        states.push(state);
        views.push(view);
      } catch (error) {
        // The other widgets still work, under their numbers.
        fail(error);
        views.push({ place: () => new Map(), goTo() {} });
      }
    }
    followTheme(states);
    if (link) followAddress(views);
  } catch (error) {
    fail(error);
  }
}

async function opened(sent: unknown) {
  const content = valid("its content", CONTENT, sent);
  /** The thumbnails of each record, or why there are none; null where no view needs them. */
  const thumbnails = content.records.map(({ overview }) => overview && unpacked(overview));
  // The other records can be shown if one is damaged.
  return { ...content, thumbnails: await Promise.allSettled(thumbnails) };
}

/** The page around widgets that all have the same theme has it, too. */
function followTheme(states: readonly ReadonlySignal<State>[]): void {
  // A frame takes the background of the page around it.
  if (isFramed()) return;
  const { dataset } = document.documentElement;
  effect(() => {
    const [first, ...others] = new Set(states.map(({ value }) => value.theme.value));
    if (others.length || !first || first === "auto") delete dataset.theme;
    else dataset.theme = first;
  });
}

type Link = (() => string) | undefined;

/** The name of an example among the choices of an address. */
const EXAMPLE = "example";

const choicesOf = (state: State) =>
  Object.fromEntries(CHOICES.map((name) => [name, state[name].peek()])) as unknown as Choices;

/** Show a widget, at the place that the address asks for. */
function show(
  main: HTMLElement,
  content: Opened,
  widget: Content["widgets"][number],
  asked: Asked,
  link: Link,
): { readonly state: ReadonlySignal<State>; readonly view: Addressed } {
  const parent = el("div");
  main.append(parent);
  let scope = new Scope();
  /** The example that is shown; null for the widget's own text. */
  const example = signal<number | null>(null);
  const placeOf = (text: number) => widget.examples?.records[text];
  /** The choices with which the page opens. */
  let opening: Choices | undefined;
  /** @param ready is called before anything is drawn */
  function open(text: number | null, choices: Partial<Choices>, ready?: (state: State) => void) {
    const place = text === null ? widget.record : (placeOf(text) as number);
    const [own, recorded] = [content.records[widget.record], content.records[place]];
    if (!own || !recorded) throw new Error(`it has no record ${place}`);
    const focused = parent.matches(":focus-within");
    scope.end();
    scope = new Scope();
    example.value = text;
    // An example has the numbers of the profile, which are in the page once.
    const manifest = readManifest({
      ...(own.manifest as object),
      ...(recorded.manifest as object),
    });
    const thumbnails = content.thumbnails[widget.record];
    if (thumbnails.status === "rejected") throw thumbnails.reason;
    // The page has no effects of its examples, and links are of the widget's own text.
    const isOwn = place === widget.record;
    const effects = isOwn ? savedEffects(widget.effects) : null;
    const source = { ...sourceOf(content, place, manifest), effects };
    const state = createState(manifest, choices, content.views);
    state.ownMetrics.value = readMetrics(widget.metrics, manifest);
    if (isOwn) state.arcs.value = readArcs(widget.arcs, manifest);
    state.similarity.value = readSimilarity(widget.similarity, manifest);
    state.examples.value = readExamples(widget.examples, manifest);
    state.note.value = widget.note;
    ready?.(state);
    mount(scope, parent, new Store(manifest, thumbnails.value, source), state, {
      height: window.parent === window ? MARGIN : isFramed() ? 0 : BARS,
      alone: content.widgets.length === 1,
      link,
    });
    // All errors in this page come from its widgets.
    const inUse = () => isInUse(parent, [...document.querySelectorAll("[data-attnwidget] > div")]);
    watchErrors(state, inUse, { signal: scope.signal });
    if (focused) focusView(parent);
    return state;
  }
  function arrive(asked: Asked, before?: State): State {
    const choices = new Map(asked);
    const text = Number(asked.get(EXAMPLE) ?? Number.NaN);
    const known = placeOf(text) !== undefined;
    if (known) choices.delete(EXAMPLE);
    const next = known ? text : null;
    const ready = (state: State) => {
      opening ??= choicesOf(state);
      openAt(state, opening, choices);
    };
    if (!before || next !== example.peek()) return open(next, widget.choices, ready);
    ready(before);
    return before;
  }
  const shown = signal(arrive(asked));
  effect(() => {
    const state = shown.value;
    const asked = state.opening.value;
    if (!asked || placeOf(asked.text) === undefined) return;
    const { stack, layer, head, query } = asked;
    const choices = {
      ...choicesOf(state),
      ...{ view: "head", stack, layer, head, heads: [head], query, key: null, also: [], cut: [] },
    } as Choices;
    shown.value = open(asked.text, choices);
  });
  const view: Addressed = {
    place() {
      const text = example.value;
      const own = differing(shown.value, opening as Choices);
      return text === null ? own : new Map([...own, [EXAMPLE, `${text}`]]);
    },
    goTo(asked) {
      shown.value = arrive(asked, shown.peek());
    },
  };
  return { state: shown, view };
}

/** The source of blocks, which stay text until a layer is opened. */
function sourceOf({ complete }: Content, record: number, { stacks }: Manifest): Source {
  const scripts = new Map(
    [...document.querySelectorAll(`[data-record="${record}"]`)].map((script) => [
      script.getAttribute("data-block"),
      script,
    ]),
  );
  return {
    async block(stack, layer) {
      const script = scripts.get(`${stack}.${layer}`);
      if (!script) {
        if (complete) throw new Error(`Layer ${layer} is not in this page.`);
        const layers = stacks.find(({ name }) => name === stack)?.layers ?? [];
        const others = layers.filter(({ number }) => scripts.has(`${stack}.${number}`));
        throw leftOut(layer, others);
      }
      return (script as Elsewhere).block?.() ?? embedded(script);
    },
    async text(stack) {
      const script = scripts.get(`${stack}.text`);
      if (!script) throw new Error("The running text is not in this page.");
      return embedded(script);
    },
    numbers(stack, layer, lens) {
      const script = scripts.get(`${stack}.${layer}.${lens}`);
      return script ? async () => embedded(script) : null;
    },
  };
}

/** True for the page of a frame of `attnwidget/page/frame.py`; any other page may be in a frame too. */
const isFramed = (): boolean => "framed" in document.documentElement.dataset;

/**
 * Tell the page around a frame its height, and take that page's background.
 *
 * @param content the element that is as high as everything in the page.
 */
function followFrame(content: HTMLElement): void {
  const { style } = document.documentElement;
  const tellHeight = () => {
    parent.postMessage({ attnwidget: { height: content.offsetHeight } }, "*");
  };
  new ResizeObserver(tellHeight).observe(content);
  addEventListener("message", ({ source, data }) => {
    const surroundings = data?.attnwidget;
    if (source !== parent || surroundings?.background === undefined) return;
    const { background, color } = surroundings;
    // The theme follows from the background, as in every host. Where the page around has none, the
    // browser's own is seen, and the colour of the text tells whether that is dark.
    const none = background === null;
    style.colorScheme = none ? (isForDark(color) ? "dark" : "light") : "";
    style.backgroundColor = none ? "Canvas" : background;
    if (surroundings.window > 0) setWindowHeight(surroundings.window);
    tellHeight();
  });
  // Either page may load first; each asks the other.
  parent.postMessage({ attnwidget: { ready: true } }, "*");
}

function embedded(script: Element): PackedBlock {
  const { data, ...packed } = read<PackedBlock<string>>(script);
  return { ...packed, data: fromBase85(data) };
}

function read<Type>(script: Element | null): Type {
  if (!script?.textContent) throw new Error("a part is missing");
  return JSON.parse(script.textContent) as Type;
}

if (isWorker) serve();
else void start();
