/** The search box: for tokens, or for heads by the numbers of layer and head. */

import { batch, computed, type ReadonlySignal, signal } from "@preact/signals-core";
import type { Tokens } from "../data/manifest.ts";
import { shownTokens } from "../data/shown.ts";
import { unitsOf } from "../data/units.ts";
import type { Scope } from "../scheduling/scope.ts";
import { joinsWords } from "../state/lens.ts";
import { goTo } from "../state/navigation.ts";
import type { Side, State } from "../state/state.ts";
import { el, revealWithin } from "./dom.ts";
import { icon } from "./icons.ts";
import { placesOf } from "./track.ts";

/** The positions of the labels that contain `text`, ignoring case; none for an empty text. */
export function matches(labels: readonly string[], text: string): readonly number[] {
  const wanted = text.toLowerCase();
  if (!wanted) return [];
  return labels.flatMap((label, at) => (label.toLowerCase().includes(wanted) ? [at] : []));
}

export type Finds = "tokens" | "heads" | null;

export interface Find {
  readonly element: HTMLElement;
  focus(): void;
}

interface FindOptions {
  readonly state: State;
  /** The finds of the view; null for nothing. */
  readonly finds: ReadonlySignal<Finds>;
  /** The option of the focused token, to scroll to. */
  option(side: Side): HTMLElement | null;
  /** Moves the focus to the view. */
  leave(): void;
}

export function findBox(scope: Scope, { state, finds, option, leave }: FindOptions): Find {
  const title = "Find token (/); Enter for the next, Shift+Enter for the previous";
  const { element, box, count, focus } = searchBox("Find token", title);
  box.dir = "auto";

  /** The matching tokens: among the queries, or, if there are none, among the keys. */
  const found = computed<{ side: Side; positions: readonly number[] }>(() => {
    const stack = state.shown.stack.value;
    const shown = shownTokens(state.segments.value, stack);
    // The neuron view shows tokens, whether words are chosen or not.
    const words = joinsWords(state) && state.view.value !== "neuron";
    const among = (tokens: Tokens, positions: readonly number[]) => {
      const units = unitsOf(tokens, words);
      const places = placesOf(positions, tokens.labels.length);
      return matches(units.labels, state.find.value)
        .map((unit) => units.tokens[unit][0])
        .filter((at) => places[at] >= 0);
    };
    const queries = among(stack.queries, shown.queries);
    return queries.length
      ? { side: "query", positions: queries }
      : { side: "key", positions: among(stack.keys, shown.keys) };
  });
  const current = signal<number | null>(null);

  /** Focus a token. Returns its option. */
  function go(to: number | undefined): HTMLElement | null {
    const { side } = found.peek();
    batch(() => {
      current.value = to ?? null;
      state.hover.value = to === undefined ? null : { query: null, key: null, [side]: to };
    });
    if (to === undefined) return null;
    // The keyboard continues here in the column.
    state.cursor[side] = to;
    state.sought.value = { query: null, key: null, [side]: to };
    return option(side);
  }

  function step(by: 1 | -1): void {
    const { positions } = found.peek();
    const at = positions.indexOf(current.peek() ?? -1);
    const next = at < 0 && by < 0 ? -1 : at + by;
    go(positions.at(next % positions.length))?.scrollIntoView({
      block: "nearest",
      inline: "nearest",
    });
  }

  box.addEventListener("input", () => {
    state.find.value = box.value;
    const first = go(found.peek().positions[0]);
    // Scroll the body only, so that the page does not move while the reader types.
    if (first) revealWithin(first.closest(".body"), first);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      // Escape must not release locked tokens here.
      event.stopPropagation();
      state.find.value = "";
      go(undefined);
      leave();
    } else return;
    event.preventDefault();
  });

  scope.effect(() => {
    const { find } = state;
    element.hidden = finds.value !== "tokens";
    if (box.value !== find.value) box.value = find.value;
    const { positions } = found.value;
    const at = positions.indexOf(current.value ?? -1);
    const several = at < 0 ? `${positions.length} found` : `${at + 1} of ${positions.length}`;
    count.textContent = !find.value ? "" : positions.length ? several : "none";
  });
  return { element, focus };
}

const NUMBERS = /^\D*(\d+)\D+(\d+)\D*$/;

/** The search box, where the view shows heads to find. */
export function findHead(
  scope: Scope,
  { state, finds, leave }: Pick<FindOptions, "state" | "finds" | "leave">,
): Find {
  const title = "Find head (/): layer and head, as 2-9";
  const { element, box, count, focus } = searchBox("Find head", title);
  box.addEventListener("input", () => {
    const [, layer, head] = NUMBERS.exec(box.value)?.map(Number) ?? [];
    const info = state.shown.stack.peek().layers.find(({ number }) => number === layer);
    const known = info !== undefined && head < info.heads;
    count.textContent = !box.value ? "" : known ? "found" : layer === undefined ? "2-9" : "none";
    if (known) goTo(state, { layer, head });
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    // Escape must not release locked tokens here.
    event.stopPropagation();
    event.preventDefault();
    box.value = count.textContent = "";
    leave();
  });
  scope.effect(() => {
    element.hidden = finds.value !== "heads";
  });
  return { element, focus };
}

/** A box with its name, and the place of a count beside it. */
function searchBox(name: string, title: string) {
  const box = el("input", {
    type: "search",
    "aria-label": name,
    placeholder: name,
    title,
    autocomplete: "off",
    spellcheck: "false",
  });
  const count = el("span", { class: "count", "aria-live": "polite" });
  const element = el("label", { class: "control find" }, icon("search"), box, count);
  const focus = () => {
    if (element.hidden) return;
    box.focus();
    box.select();
  };
  return { element, box, count, focus };
}
