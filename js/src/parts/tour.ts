/** The tour: steps through the views with the reader's own text, started from the help. */

import { batch, computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { same } from "../basics/same.ts";
import { type Manifest, middleOf, patchesOn } from "../data/manifest.ts";
import { shownTokens } from "../data/shown.ts";
import type { Scope } from "../scheduling/scope.ts";
import { CHOICES, type Choices } from "../state/choices.ts";
import type { State } from "../state/state.ts";
import { dialog } from "./dialog.ts";
import { button, el } from "./dom.ts";
import { brief, type Phrase } from "./text.ts";

interface TourOptions {
  readonly root: HTMLElement;
  readonly state: State;
  readonly manifest: Manifest;
  /** The views that there are. */
  readonly views: readonly Toured[];
  /** The status line of the view. */
  readonly status: ReadonlySignal<Phrase>;
}

/** The part of a view that the tour goes through. */
export interface Toured {
  /** The steps with the names and numbers of this record. */
  tour(subject: Subject): readonly Step[];
}

/** The record that the tour shows. */
export interface Subject {
  readonly state: State;
  readonly manifest: Manifest;
  /** The choices that lock a token, and nothing else. */
  readonly locked: Pick<Choices, "query" | "key" | "also">;
}

export interface Step {
  readonly title: string;
  readonly text: string;
  /** The choices that differ from the reader's. */
  readonly choices: Partial<Choices>;
  /** Selectors of what the step is about: the first that is visible is outlined. */
  readonly about: readonly string[];
  /** False if the status line, without its details, does not follow the text. */
  readonly said?: false;
}

/** The space between the outline and its element, and between the outline and the dialog. */
const MARGIN = 4;
const GAP = 10;

export function tour(scope: Scope, { root, state, manifest, views, status }: TourOptions) {
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
    const locked = { query: tokenFor(state, manifest), key: null, also: [] };
    steps.value = [...views.flatMap((view) => view.tour({ state, manifest, locked })), SAVE];
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
    const { title, text: words, said = true } = step.value;
    const count = `${at.value + 1} of ${steps.value.length}`;
    const numbers = said ? brief(status.value) : "";
    text.replaceChildren(
      el("strong", {}, `${count} · ${title}. `),
      words,
      ...(numbers ? [el("br"), numbers] : []),
    );
    back.disabled = at.value === 0;
    next.textContent = at.value + 1 < steps.value.length ? "Next" : "Done";
  });

  /** Outline what the step is about in every frame of the screen: a view may still be loading. */
  let outlined: Element | null = null;
  function follow(): void {
    if (!element.open) return;
    requestAnimationFrame(follow);
    const about = step.peek().about.flatMap((selector) => visible(root, selector))[0];
    // A choice without room in the header opens by a button.
    const target = about?.closest(".over") ? visible(root, "[aria-label=Options]")[0] : about;
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

  /** The dialog, and the outline of what a step is about. */
  const elements = [element, outline];
  return { elements, start };
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

/** The last step: what is shown can be kept. */
const SAVE: Step = {
  title: "Save a figure",
  text: "This or the key s saves what is shown as SVG or PNG; the button before it copies the numbers.",
  choices: {},
  about: ["[aria-label='Save figure']"],
  said: false,
};

/** The locked query, or else the patch or the word in the middle of the queries shown. */
function tokenFor(state: State, manifest: Manifest): number {
  const { queries } = state.shown.stack.peek();
  const shown = shownTokens(state.segments.peek(), state.shown.stack.peek()).queries;
  const locked = state.query.peek();
  if (locked !== null && shown.includes(locked)) return locked;
  const patches = patchesOn(manifest, state.shown.stack.peek(), state.grid.peek())?.query;
  if (patches && middleOf(patches) >= 0) return middleOf(patches);
  const words = shown.filter(
    (at) => !queries.special.includes(at) && /\p{L}{2}/u.test(queries.labels[at]),
  );
  const among = words.length ? words : shown;
  return among[among.length >> 1];
}
