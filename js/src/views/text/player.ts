/** Steps through the answer token by token: play, a slider, and the probability of what is looked at. */

import { signal } from "@preact/signals-core";
import type { RunningText } from "../../data/manifest.ts";
import { button, el, setAttributes } from "../../parts/dom.ts";
import { counted } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { Reading } from "./reading.ts";

const STEP_MS = 500;
/** The most tokens whose probabilities are said. */
const MOST = 3;

export function player(
  scope: Scope,
  answer: NonNullable<RunningText["answer"]>,
  { span, named }: Reading,
): HTMLElement {
  const count = answer.labels.length;
  const playing = signal(false);
  const play = button({ class: "play" }, "", () => {
    // From the end, it begins anew.
    if (!playing.peek() && span.value?.[1] === count - 1) span.value = null;
    playing.value = !playing.peek();
  });
  const slider = el("input", {
    type: "range",
    min: 1,
    max: count,
    "aria-label": "Token of the answer",
  });
  slider.addEventListener("input", () => {
    const at = Number(slider.value) - 1;
    span.value = [at, at];
  });
  const said = el("span", {});
  scope.effect(() => {
    const locked = span.value;
    const [first, last] = locked ?? [0, count - 1];
    slider.value = `${last + 1}`;
    const p = answer.p.slice(first, last + 1).map((each) => each.toFixed(3));
    const which = first === last ? `token ${first + 1}` : `tokens ${first + 1}–${last + 1}`;
    const numbers = p.length > MOST ? "" : ` · p ${p.join(" · ")}`;
    said.textContent = locked ? `${which} of ${count}${numbers}` : counted(count, "token");
    setAttributes(slider, { "aria-valuetext": `${named.value}, ${said.textContent}` });
  });
  scope.scopedEffect((own) => {
    play.textContent = playing.value ? "Pause" : "Play";
    if (!playing.value) return;
    const timer = setInterval(() => {
      const next = (span.value?.[1] ?? -1) + 1;
      if (next < count) span.value = [next, next];
      if (next >= count - 1) playing.value = false;
    }, STEP_MS);
    own.onEnd(() => clearInterval(timer));
  });
  return el("div", { class: "player" }, play, slider, said);
}
