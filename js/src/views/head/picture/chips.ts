/** The tokens without a patch, such as [CLS] and registers, with their weights. */

import type { ReadonlySignal } from "@preact/signals-core";
import { el, revealWithin, setAttributes } from "../../../parts/dom.ts";
import { weight } from "../../../parts/text.ts";
import type { Scope } from "../../../scheduling/scope.ts";
import { alpha } from "../../../styles/palette.ts";
import { GRID_NAMES, type PictureSide } from "./stage.ts";

export interface ChipsOptions extends PictureSide {
  readonly tokens: readonly number[];
  readonly names: readonly string[];
  /** The colour of the bars. */
  readonly color: ReadonlySignal<string>;
  /** The tokens whose attention is shown: those in focus, or the one that stands in for them. */
  readonly shown: ReadonlySignal<readonly number[]>;
}

/** More tokens, as those of a text, have a shade in place of a bar and a number. */
const MOST_WITH_NUMBERS = 8;

export function chips(scope: Scope, options: ChipsOptions): HTMLElement {
  const { side, tokens, names, weights, focused, locked } = options;
  const many = tokens.length > MOST_WITH_NUMBERS;
  const rows = tokens.map((token) => {
    const bar = el("span", { class: "weight-bar" }, el("span"));
    const number = el("span", { class: "number" });
    const label = el("span", { dir: "auto" }, names[token]);
    const chip = el("div", { role: "option", id: `${side}-token-${token}` }, label, bar, number);
    chip.addEventListener("pointermove", () => options.pointAt(token));
    chip.addEventListener("click", (event) => options.toggle(token, event));
    return { token, chip, bar, fill: bar.firstElementChild as HTMLElement, number };
  });
  const list = el(
    "div",
    {
      class: many ? "chips many" : "chips",
      role: "listbox",
      tabindex: 0,
      "aria-label": `${GRID_NAMES[side]} without a patch`,
      "aria-orientation": "horizontal",
      "aria-multiselectable": "true",
    },
    ...rows.map(({ chip }) => chip),
  );
  list.addEventListener("pointerleave", () => options.pointAt(null));
  list.addEventListener("focus", () => {
    if (list.matches(":focus-visible")) options.pointAt(current());
  });
  list.addEventListener("blur", () => options.pointAt(null));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step !== undefined) {
      const to = tokens.indexOf(current()) + step;
      options.pointAt(tokens[Math.max(0, Math.min(tokens.length - 1, to))]);
    } else if (event.key === "Enter" || event.key === " ") options.toggle(current(), event);
    else return;
    event.preventDefault();
  });
  const current = () => focused.peek().find((token) => tokens.includes(token)) ?? tokens[0];

  scope.effect(() => {
    const values = weights.value;
    for (const { token, chip, bar, fill, number } of rows) {
      const text = values ? weight(values[token], options.rounding(token)) : "";
      bar.hidden = many || !values;
      number.textContent = many ? "" : text;
      if (many) {
        // The square root, as in the matrix, since most weights are small.
        const shade = values ? 0.6 * Math.sqrt(Math.min(1, values[token])) : 0;
        chip.style.background = shade ? alpha(options.color.value, shade) : "";
      }
      fill.style.width = values ? `${100 * Math.min(1, values[token])}%` : "0";
      fill.style.background = options.color.value;
      chip.classList.toggle("focused", options.shown.value.includes(token));
      setAttributes(chip, {
        "aria-label": values ? `${names[token]}, weight ${text}` : names[token],
        "aria-selected": `${locked.value.includes(token)}`,
      });
    }
    const first = rows.find(({ token }) => options.shown.value.includes(token));
    const reveal = () => first && revealWithin(list, first.chip);
    // In the first run, wait until the list is in the page.
    if (!list.isConnected) queueMicrotask(reveal);
    // Not below the pointer, which would then be at another token.
    else if (!list.matches(":hover")) reveal();
    const active = focused.value.find((token) => tokens.includes(token));
    setAttributes(list, {
      "aria-activedescendant": active !== undefined && `${side}-token-${active}`,
    });
  });
  return list;
}
