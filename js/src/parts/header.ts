/** The header: the choice of view, record, layer, head and tokens, what is off, and menus. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import { type Compared, type Manifest, ownStacks } from "../data/manifest.ts";
import { headAt } from "../data/pairing.ts";
import { choiceOf, isPair, leavesOut, partsOf } from "../data/shown.ts";
import type { Store } from "../data/store.ts";
import type { Scope } from "../scheduling/scope.ts";
import { type Choices, SCHEMA, type ViewName } from "../state/choices.ts";
import { goTo, goToStack } from "../state/navigation.ts";
import {
  headNow,
  isCut,
  isOff,
  linkAt,
  toggleCut,
  toggleLayerOff,
  toggleOff,
} from "../state/off.ts";
import type { State } from "../state/state.ts";
import { bound, choice, exclusive, type Option, stepper, toggle } from "./choice.ts";
import { el, setAttributes } from "./dom.ts";
import { iconButton } from "./icons.ts";
import { linkName } from "./links.ts";
import { menuButton } from "./menu.ts";
import { capitalized } from "./text.ts";

/** The part of a view that its tab shows. */
export interface Tab {
  readonly name: ViewName;
  readonly label: string;
}

/** The reasons why the steppers have no effect; "" where they have. */
export interface Idle {
  readonly layer: string;
  readonly head: string;
}

interface HeaderOptions {
  readonly tabs: readonly Tab[];
  readonly idle: ReadonlySignal<Idle>;
  /** The container of the current view's own controls. */
  readonly tools: HTMLElement;
  /** The current view, with which the controls change. */
  readonly shown: ReadonlySignal<unknown>;
  /** The controls of all views, at the end. */
  readonly common: readonly HTMLElement[];
}

export function header(
  scope: Scope,
  state: State,
  store: Store,
  { tabs, idle, tools, shown, common }: HeaderOptions,
): HTMLElement {
  const { stack, layer: shownLayer, head: shownHead } = state.shown;
  const layer = stepper(scope, {
    name: "Layer",
    value: computed(() => shownLayer.value.number),
    values: computed(() => stack.value.layers.map(({ number }) => number)),
    set: (to) => goTo(state, { layer: to }),
  });
  const head = stepper(scope, {
    name: "Head",
    value: shownHead,
    values: computed(() => [...Array(shownLayer.value.heads).keys()]),
    set: (to) => goTo(state, { head: to }),
  });
  scope.effect(() => {
    layer.classList.toggle("idle", idle.value.layer !== "");
    head.classList.toggle("idle", idle.value.head !== "");
    layer.title = idle.value.layer || shownLayer.value.fidelity.module;
    head.title = idle.value.head;
  });
  const choices = filters(scope, state, store.manifest);
  const end = el("div", { class: "common" }, ...common);
  // A page cannot run the model.
  const off = store.source.effects
    ? [el("div", { class: "off-buttons" }, offButton(scope, state, store), cutButton(scope, state))]
    : [];
  const records = store.manifest.compared ? [recordChoice(scope, state)] : [];
  return el(
    "header",
    {},
    exclusive(scope, { role: "tab", name: "View" }, tabs, state.view),
    layer,
    head,
    ...records,
    ...off,
    ...options(scope, shown, tools, choices),
    end,
  );
}

/** The least room for a menu of choices in the header, in CSS pixels: with less, it opens below. */
const ROOM = 240;

/** The choices of the view: in the row of the header, and behind a button those without room. */
function options(
  scope: Scope,
  shown: ReadonlySignal<unknown>,
  tools: HTMLElement,
  choices: readonly HTMLElement[],
): HTMLElement[] {
  const button = iconButton({ icon: "options", name: "Options", title: "More options" });
  // Focusable, so that a press between the choices keeps it open.
  const element = el("div", { class: "options", tabindex: -1 }, ...choices, tools);
  const room = el("div", { class: "room" }, element);
  const open = (isOpen: boolean) => {
    room.classList.toggle("below", isOpen && room.clientWidth < ROOM);
    element.classList.toggle("open", isOpen);
    button.setAttribute("aria-expanded", `${isOpen}`);
  };
  open(false);
  button.addEventListener("click", () => open(!element.classList.contains("open")));
  const closeOnEscape = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !element.classList.contains("open")) return;
    // Escape must not release locked tokens here.
    event.stopPropagation();
    button.focus();
    open(false);
  };
  button.addEventListener("keydown", closeOnEscape);
  element.addEventListener("keydown", closeOnEscape);
  element.addEventListener("focusout", ({ relatedTarget }) => {
    const to = relatedTarget as Node | null;
    if (to && to !== button && !element.contains(to)) open(false);
  });
  const controls = () => [...choices, ...(tools.children as Iterable<HTMLElement>)];
  const fit = () => {
    // With the room that it takes.
    button.hidden = false;
    const isOpen = element.classList.contains("open");
    // The places of the choices are those in the row.
    open(false);
    const { right } = room.getBoundingClientRect();
    const { bottom } = button.getBoundingClientRect();
    for (const control of controls()) {
      const at = control.getBoundingClientRect();
      control.classList.toggle("over", at.top >= bottom || at.right > right);
    }
    button.hidden = !element.querySelector(".over");
    open(isOpen && !button.hidden);
  };
  scope.scopedEffect((own) => {
    shown.value;
    for (const each of [room, ...controls()]) own.onResize(each, fit);
  });
  return [button, room];
}

/** The menu of themes: light, dark, or that of the page around the view. */
export function themeMenu(scope: Scope, state: State): HTMLElement {
  return menuButton(scope, {
    name: "Theme",
    title: "Theme: as the page, light or dark",
    icon: () => state.theme.value,
    items: () =>
      SCHEMA.theme.options.map((theme) => ({
        name: capitalized(theme),
        checked: state.theme.value === theme,
        choose: () => {
          state.theme.value = theme;
        },
      })),
  });
}

/** The button that switches the current head off, or on again. */
function offButton(scope: Scope, state: State, store: Store): HTMLElement {
  const element = iconButton({ icon: "power", name: "Switch head off" });
  element.classList.add("off-button");
  const { stack, layer, head } = state.shown;
  element.addEventListener("click", ({ shiftKey }) => {
    if (shiftKey) toggleLayerOff(state, layer.peek().number);
    else toggleOff(state, layer.peek().number, head.peek());
  });
  scope.effect(() => {
    const [number, at] = [layer.value.number, head.value];
    const off = isOff(state, number, at);
    const to = off ? "on again" : "off, and see what the model does without it";
    setAttributes(element, {
      "aria-pressed": `${off}`,
      title: `${store.source.effects?.saved?.(stack.value.name) ?? ""}Switch ${headAt(layer.value, at)} ${to} (x; the whole layer: Shift+X)`,
    });
  });
  return element;
}

/** The button that cuts the locked link in the current head, or restores it. */
function cutButton(scope: Scope, state: State): HTMLElement {
  const element = iconButton({ icon: "scissors", name: "Cut link" });
  element.classList.add("off-button");
  element.addEventListener("click", ({ shiftKey }) => {
    toggleCut(state, shiftKey ? null : headNow(state));
  });
  scope.effect(() => {
    const at = headNow(state);
    const [link, cut] = [linkAt(state, null), isCut(state, at)];
    const what = link && linkName(state.shown.stack.value, link);
    setAttributes(element, {
      "aria-pressed": `${cut}`,
      "aria-disabled": `${!link}`,
      title: what
        ? `${cut ? "Restore" : "Cut"} ${what} in ${headAt(state.shown.layer.value, at[1])} (k; in every head: Shift+K)`
        : "Lock a token, or a query and a key, to cut the links between them (k)",
    });
  });
  return element;
}

const SEGMENTS: readonly Option[] = [
  { value: "all", label: "All" },
  { value: "aa", label: "A → A" },
  { value: "ab", label: "A → B" },
  { value: "ba", label: "B → A" },
  { value: "bb", label: "B → B" },
];

/** The filters in the header: the stack, the segments of a text, and special tokens. */
function filters(scope: Scope, state: State, manifest: Manifest): HTMLElement[] {
  const stacks = ownStacks(manifest);
  const shown: HTMLElement[] = [];
  const several = stacks.length > 1;
  if (several) {
    const options = stacks.map(({ name }) => ({
      value: name,
      label: capitalized(name.replaceAll("_", " ")),
    }));
    const chosen = bound(
      () => state.stack.value,
      (name) => goToStack(state, name),
    );
    shown.push(choice(scope, "Attention", options, chosen));
  }
  const options = (): Option[] => [
    ...SEGMENTS.filter(({ value }) => value === "all" || isPair(state.shown.stack.value)),
    ...state.named_segments.value.flatMap(([start, end, name]) => [
      { value: `from:${start}-${end}`, label: `From ${name}` },
      { value: `to:${start}-${end}`, label: `To ${name}` },
    ]),
  ];
  const now = () => partsOf(state.segments.value);
  const choose = (...to: ReturnType<typeof partsOf>) => {
    state.segments.value = choiceOf(...to);
  };
  const segments = choice(
    scope,
    several ? "Segments" : "Attention",
    options,
    bound(
      () => now()[1],
      (to) => choose(now()[0], to),
    ),
  );
  const hide = toggle(
    scope,
    "Hide special",
    "Leave out special tokens, as [CLS], <s>, <|im_end|>",
    bound(
      () => now()[0],
      (to) => choose(to, now()[1]),
    ),
  );
  scope.effect(() => {
    segments.hidden = options().length < 2;
    hide.hidden = !leavesOut("content", state.shown.stack.value);
  });
  return [...shown, segments, hide];
}

const LABELS: Record<Choices["compared"], string> = { a: "A", b: "B", difference: "B − A" };

/** The keys that choose a record. */
export const COMPARED_KEYS = { a: "a", b: "b", d: "difference" } as const;

/** The record of a comparison that is shown: A, B or their difference. */
function recordChoice(scope: Scope, { compared }: State): HTMLElement {
  const options = SCHEMA.compared.options.map((name) => ({ name, label: LABELS[name] }));
  const group = exclusive(scope, { role: "radio", name: "Record" }, options, compared);
  const label = el("span", { class: "label", "aria-hidden": "true" }, "Record");
  return el("div", { class: "control records" }, label, group);
}

/** The note that says what A and B are. */
export function recordNames({ names, remark }: Compared): HTMLElement {
  const named = names.map((parts, at) => {
    const letter = el("b", {}, "AB".charAt(at));
    const name = parts.flatMap((part, n) => [n % 2 ? el("mark", {}, part) : part, " "]);
    return el("span", { class: "record-name" }, letter, el("bdi", {}, ...name));
  });
  const [a, b] = names.map((parts) => parts.join(" ").trim());
  const label = `A: ${a}, B: ${b}`;
  const attributes = { role: "note", class: "record-names", "aria-label": label };
  return el("div", attributes, ...named, el("span", { class: "remark" }, remark));
}
