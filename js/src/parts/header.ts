/** The header: the choice of the view, layer, head and attention, and menus. */

import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { Store } from "../data/store.ts";
import type { Scope } from "../scheduling/scope.ts";
import { SCHEMA, type ViewName } from "../state/choices.ts";
import { goTo } from "../state/navigation.ts";
import type { State } from "../state/state.ts";
import { exclusive } from "./choice.ts";
import { recordChoice } from "./compared.ts";
import { el } from "./dom.ts";
import { filters } from "./filters.ts";
import { iconButton } from "./icons.ts";
import { menuButton } from "./menu.ts";
import { cutButton, offButton } from "./off-buttons.ts";
import { stepper } from "./stepper.ts";
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

export interface HeaderOptions {
  readonly tabs: readonly Tab[];
  readonly idle: ReadonlySignal<Idle>;
  /** The container of the current view's own controls. */
  readonly tools: HTMLElement;
  /** The controls of all views, at the end. */
  readonly common: readonly HTMLElement[];
}

export function header(
  scope: Scope,
  state: State,
  store: Store,
  { tabs, idle, tools, common }: HeaderOptions,
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
  const off = store.effect
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
    ...options(...choices, tools),
    end,
  );
}

/** The choices of the view; in a narrow header, a button that opens them below it. */
function options(...choices: readonly HTMLElement[]): HTMLElement[] {
  const button = iconButton({ icon: "options", name: "Options", title: "Options of this view" });
  button.classList.add("narrow-only");
  // Focusable, so that a press between the choices keeps it open.
  const element = el("div", { class: "options", tabindex: -1 }, ...choices);
  const open = (isOpen: boolean) => {
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
  return [button, element];
}

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
