/** The search box for heads, by the numbers of layer and head, as "24-4". */

import type { Scope } from "../scheduling/scope.ts";
import { goTo } from "../state/navigation.ts";
import { el } from "./dom.ts";
import type { Find, FindOptions } from "./find.ts";
import { icon } from "./icons.ts";

const NUMBERS = /^\D*(\d+)\D+(\d+)\D*$/;

/** The search box, where the view shows heads to find. */
export function findHead(
  scope: Scope,
  { state, finds, leave }: Pick<FindOptions, "state" | "finds" | "leave">,
): Find {
  const box = el("input", {
    type: "search",
    "aria-label": "Find head",
    placeholder: "Find head",
    title: "Find head (/): layer and head, as 2-9",
    autocomplete: "off",
    spellcheck: "false",
  });
  const count = el("span", { class: "count", "aria-live": "polite" });
  const element = el("label", { class: "control find" }, icon("search"), box, count);
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
  return {
    element,
    focus() {
      box.focus();
      box.select();
    },
  };
}
