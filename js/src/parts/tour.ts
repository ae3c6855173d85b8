/** The tour: seven steps through the views with the reader's own text, started from the help. */

import { batch, computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { same } from "../basics/same.ts";
import { type Manifest, metricValue, middleOf, patchesOn } from "../data/manifest.ts";
import type { Scope } from "../scheduling/scope.ts";
import { CHOICES, type Choices } from "../state/choices.ts";
import { shownTokens } from "../state/shown.ts";
import type { State } from "../state/state.ts";
import { dialog } from "./dialog.ts";
import { button, el } from "./dom.ts";
import type { Phrase } from "./text.ts";

export interface Tour {
  /** The dialog, and the outline of what a step is about. */
  readonly elements: readonly HTMLElement[];
  start(): void;
}

export interface TourOptions {
  readonly root: HTMLElement;
  readonly state: State;
  readonly manifest: Manifest;
  /** The status line of the view. */
  readonly status: ReadonlySignal<Phrase>;
}

interface Step {
  readonly title: string;
  readonly text: string;
  /** The choices that differ from the reader's. */
  readonly choices: Partial<Choices>;
  /** Selectors of what the step is about: the first that is visible is outlined. */
  readonly about: readonly string[];
  /** The number of parts of the status line that follow the text. */
  readonly parts: number;
}

/** The space between the outline and its element, and between the outline and the dialog. */
const MARGIN = 4;
const GAP = 10;

export function tour(scope: Scope, { root, state, manifest, status }: TourOptions): Tour {
  const steps = signal<readonly Step[]>([]);
  const at = signal(0);
  const step = computed(() => steps.value[at.value]);
  let before: Partial<Choices> = {};

  const text = el("p", { "aria-live": "polite", id: "tour-text" });
  const back = button({ class: "control" }, "Back", () => go(at.peek() - 1));
  const next = button({ class: "control", "aria-describedby": "tour-text" }, "", () => {
    if (at.peek() + 1 < steps.peek().length) go(at.peek() + 1);
    else toggle(false);
  });
  const note = el("span", { class: "label" }, "Esc ends it; your choices stay.");
  const buttons = el("div", { class: "tour-buttons" }, note, back, next);
  const { element, toggle } = dialog("Tour", text, buttons);
  element.classList.add("tour");
  const outline = el("div", { class: "tour-outline", hidden: true, "aria-hidden": "true" });

  function start(): void {
    before = Object.fromEntries(CHOICES.map((name) => [name, state[name].peek()]));
    steps.value = stepsOf(state, manifest);
    toggle(true);
    go(0);
    follow();
  }

  function go(to: number): void {
    const { choices } = steps.peek()[to];
    batch(() => {
      at.value = to;
      choose({ ...before, ...choices });
      state.hover.value = null;
      const { query } = choices;
      if (query !== undefined) state.sought.value = { query, key: null };
    });
    if (to === 0) next.focus();
  }

  function choose(choices: Partial<Choices>): void {
    for (const name of CHOICES) {
      const [own, value] = [state[name] as { value: unknown }, choices[name]];
      if (!same(own.value, value)) own.value = value;
    }
  }

  function restore(): void {
    outline.hidden = true;
    batch(() => choose(before));
  }

  element.addEventListener("close", restore);
  scope.onEnd(() => {
    if (!element.open) return;
    // The event comes later, when nothing listens to choices any more.
    element.removeEventListener("close", restore);
    toggle(false);
    restore();
  });
  scope.effect(() => {
    if (!step.value) return;
    const { title, text: words, parts } = step.value;
    const count = `${at.value + 1} of ${steps.value.length}`;
    const said = status.value
      .flatMap((part) => (typeof part === "string" ? part : part.hint ? [] : part.text))
      .join("")
      .split(" · ")
      .slice(0, parts)
      .join(" · ");
    text.replaceChildren(
      el("strong", {}, `${count} · ${title}. `),
      words,
      ...(said ? [el("br"), said] : []),
    );
    back.disabled = at.value === 0;
    next.textContent = at.value + 1 < steps.value.length ? "Next" : "Done";
  });

  /** Outline what the step is about in every frame of the screen: a view may still be loading. */
  let outlined: Element | null = null;
  function follow(): void {
    if (!element.open) return;
    requestAnimationFrame(follow);
    const target = step.peek().about.flatMap((selector) => visible(root, selector))[0];
    outline.hidden = !target;
    if (target !== outlined) target?.scrollIntoView({ block: "nearest", inline: "nearest" });
    outlined = target ?? null;
    const [around, box] = [root, target ?? root].map((each) => each.getBoundingClientRect());
    outline.style.left = `${box.left - around.left - MARGIN}px`;
    outline.style.top = `${box.top - around.top - MARGIN}px`;
    outline.style.width = `${box.width + 2 * MARGIN}px`;
    outline.style.height = `${box.height + 2 * MARGIN}px`;
    const { left, top } = placeOf(element, around, box);
    element.style.left = `${left}px`;
    element.style.top = `${top}px`;
  }

  return { elements: [element, outline], start };
}

/**
 * The dialog's place: the lower right corner of the view, where it covers the status line, which it
 * repeats; or below or above the element that the step is about, if it would cover that.
 */
function placeOf({ offsetWidth, offsetHeight }: HTMLElement, view: DOMRect, box: DOMRect) {
  const within = (at: number, size: number, space: number) =>
    Math.max(GAP, Math.min(at, space - size - GAP));
  const right = within(view.right - offsetWidth - GAP, offsetWidth, innerWidth);
  const corner = within(view.bottom - offsetHeight - GAP, offsetHeight, innerHeight);
  if (box.bottom + MARGIN + GAP <= corner || box.right + MARGIN + GAP <= right) {
    return { left: right, top: corner };
  }
  const below = box.bottom + MARGIN + GAP;
  const above = box.top - MARGIN - GAP - offsetHeight;
  const top = below + offsetHeight <= innerHeight || above < 0 ? below : above;
  return {
    left: within(box.left, offsetWidth, innerWidth),
    top: within(top, offsetHeight, innerHeight),
  };
}

const visible = (root: HTMLElement, selector: string): readonly HTMLElement[] =>
  [...root.querySelectorAll<HTMLElement>(selector)].filter(({ offsetWidth }) => offsetWidth > 0);

/** The steps for the views that there are, with the names and numbers of this record. */
function stepsOf(state: State, manifest: Manifest): readonly Step[] {
  const { patterns, metrics: all } = manifest;
  const { stack, layer, head, metrics } = state.shown;
  const [info, current] = [layer.peek(), head.peek()];
  const layers = stack.peek().layers;
  const query = tokenFor(state, manifest);
  const locked = { query, key: null, also: [] };
  const inHead: Partial<Choices> = { ...locked, view: "head", combine: "none", lens: "attention" };
  const heads = layers.reduce((sum, each) => sum + each.heads, 0);
  const [metric] = metrics.peek().length ? metrics.peek() : all;
  const values = [...Array(info.heads).keys()].map((head) => ({
    head,
    value: metricValue(metric, { layer: info, head }) ?? Number.NEGATIVE_INFINITY,
  }));
  const most = values.reduce((best, one) => (one.value > best.value ? one : best));
  const number = `${most.value.toFixed(metric.digits)} ${metric.unit}`.trim();
  const pattern = patterns.kinds.length ? " Its colour is its pattern." : "";
  const inModel: Partial<Choices> = { view: "model", opened: false };
  const onPicture = state.picture.peek() && patchesOn(manifest, stack.peek()) !== null;
  const steps: Record<Choices["view"], readonly Step[]> = {
    head: onPicture
      ? [
          {
            title: "Lock a patch",
            text: "A click on a patch locks it: the other image is bright where it attends, and the status line has the largest weights.",
            choices: inHead,
            about: [".picture-side"],
            parts: 3,
          },
          {
            title: "Choose a head",
            text: `Each small image is one of the ${info.heads} heads of layer ${info.number}, and a click shows it.`,
            choices: inHead,
            about: [".map[aria-pressed=true]"],
            parts: 4,
          },
        ]
      : [
          {
            title: "Lock a token",
            text: "A click on a token locks it: its lines show what it attends to, and the status line the largest weights.",
            choices: inHead,
            about: [".tokens.query [aria-selected=true]", ".tokens.query"],
            parts: 3,
          },
          {
            title: "Choose a head",
            text: `A double-click on a number shows one of the ${info.heads} heads of layer ${info.number} alone.`,
            choices: { ...inHead, heads: [current] },
            about: [".swatches .current"],
            parts: 4,
          },
        ],
    model: [
      {
        title: "Open the model view",
        text: `Here are all ${heads} heads in ${layers.length} layers, and a click opens one.${pattern}`,
        choices: { ...inModel, sort: "model" },
        about: ["[role=gridcell][aria-selected=true]", "[role=grid]"],
        parts: 3,
      },
      {
        title: "Sort the heads",
        text: `By ${metric.label}, head ${most.head} comes first in layer ${info.number}, with ${number}. In a narrow view, the menu is among the options.`,
        choices: { ...inModel, sort: metric.name },
        about: [".control:has([aria-label='Sort heads'])", "[aria-label=Options]"],
        parts: 0,
      },
    ],
    map: [
      {
        title: "Open the map",
        text: `Each of the ${heads} heads is a point, and a click shows it beside them; the menus choose what places, colours and sizes them.`,
        choices: { view: "map" },
        about: [".map-stage"],
        parts: 3,
      },
    ],
    neuron: [
      {
        title: "Open the neuron view",
        text: "It shows how a weight comes about: query times key, neuron by neuron, then the softmax.",
        choices: { ...locked, view: "neuron" },
        about: [".neuron-list", ".neurons"],
        parts: 2,
      },
    ],
  };
  return [
    ...state.views.flatMap((view) => steps[view]),
    {
      title: "Save a figure",
      text: "This or the key s saves what is shown as SVG or PNG; the button before it copies the numbers.",
      choices: {},
      about: ["[aria-label='Save figure']"],
      parts: 0,
    },
  ];
}

/** The locked query, or else the patch or the word in the middle of the queries shown. */
function tokenFor(state: State, manifest: Manifest): number {
  const { queries } = state.shown.stack.peek();
  const shown = shownTokens(state.segments.peek(), state.shown.stack.peek()).queries;
  const locked = state.query.peek();
  if (locked !== null && shown.includes(locked)) return locked;
  const patches = patchesOn(manifest, state.shown.stack.peek());
  if (patches) return patches.of.indexOf(middleOf(patches));
  const words = shown.filter(
    (at) => !queries.special.includes(at) && /\p{L}{2}/u.test(queries.labels[at]),
  );
  const among = words.length ? words : shown;
  return among[among.length >> 1];
}
