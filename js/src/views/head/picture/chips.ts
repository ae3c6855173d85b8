/** The tokens without a patch, such as [CLS] and registers, with their weights. */

import { el, revealWithin, setAttributes } from "../../../parts/dom.ts";
import { weight } from "../../../parts/text.ts";
import { NAMES } from "../../../parts/tokens.ts";
import { alpha } from "../../../styles/palette.ts";
import type { Picture, PictureSide } from "./source.ts";

/** More tokens, as those of a text, have a shade in place of a bar and a number. */
const MOST_WITH_NUMBERS = 8;

export function chips(picture: Picture, on: PictureSide): HTMLElement {
  const { scope, color } = picture;
  const { side, withoutPatch: tokens, names, weights, focused, locked, shown } = on;
  const many = tokens.length > MOST_WITH_NUMBERS;
  const rows = tokens.map((token) => {
    const bar = el("span", { class: "weight-bar" }, el("span"));
    const number = el("span", { class: "number" });
    const label = el("span", { dir: "auto" }, names[token]);
    const chip = el("div", { role: "option", id: `${side}-token-${token}` }, label, bar, number);
    chip.addEventListener("pointermove", () => on.pointAt(token));
    chip.addEventListener("click", (event) => on.toggle(token, event));
    return { token, chip, bar, fill: bar.firstElementChild as HTMLElement, number };
  });
  const list = el("div", {
    class: many ? "chips many" : "chips",
    role: "listbox",
    tabindex: 0,
    "aria-label": `${NAMES[side]} without a patch`,
    "aria-orientation": "horizontal",
    "aria-multiselectable": "true",
  });
  list.append(...rows.map(({ chip }) => chip));
  list.addEventListener("pointerleave", () => on.pointAt(null));
  list.addEventListener("focus", () => {
    if (list.matches(":focus-visible")) on.pointAt(current());
  });
  list.addEventListener("blur", () => on.pointAt(null));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step !== undefined) {
      const to = tokens.indexOf(current()) + step;
      on.pointAt(tokens[Math.max(0, Math.min(tokens.length - 1, to))]);
    } else if (event.key === "Enter" || event.key === " ") on.toggle(current(), event);
    else return;
    event.preventDefault();
  });
  const current = () => focused.peek().find((token) => tokens.includes(token)) ?? tokens[0];

  scope.effect(() => {
    const values = weights.value;
    for (const { token, chip, bar, fill, number } of rows) {
      const text = values ? weight(values[token], picture.rounding(token)) : "";
      bar.hidden = many || !values;
      number.textContent = many ? "" : text;
      if (many) {
        // The square root, as in the matrix, since most weights are small.
        const shade = values ? 0.6 * Math.sqrt(Math.min(1, values[token])) : 0;
        chip.style.background = shade ? alpha(color.value, shade) : "";
      }
      fill.style.width = values ? `${100 * Math.min(1, values[token])}%` : "0";
      fill.style.background = color.value;
      chip.classList.toggle("focused", shown.value.includes(token));
      setAttributes(chip, {
        "aria-label": values ? `${names[token]}, ${picture.one.value} ${text}` : names[token],
        "aria-selected": `${locked.value.includes(token)}`,
      });
    }
    const first = rows.find(({ token }) => shown.value.includes(token));
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
