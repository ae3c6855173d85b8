/** The panel beside the views: the heads and links that are off, and what the model does then. */

import { computed } from "@preact/signals-core";
import type { Store } from "../../data/store.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { offNow, restore, switchAllOn, toggleLayerOff, toggleOff } from "../../state/off.ts";
import type { State } from "../../state/state.ts";
import { button, el, setAttributes } from "../dom.ts";
import { headsText, linkName, linkText } from "../links.ts";
import { type Measured, measured } from "./measured.ts";
import { predictions } from "./predictions.ts";
import { states } from "./states.ts";

/** @param leave moves the focus to the view */
export function effectsPanel(scope: Scope, state: State, store: Store, leave: () => void) {
  const result = measured(scope, state, store);
  const chips = el("div", {
    class: "off-chips",
    role: "group",
    "aria-label": "Switched off",
  });
  const allOn = button({ class: "some" }, "All on", () => {
    leave();
    switchAllOn(state);
  });
  allOn.title = "Switch all heads on again, and restore all links (Esc)";
  const attention = button(
    { class: "control shown-attention" },
    "Show the attention without them",
    () => {
      state.withoutOff.value = !state.withoutOff.peek();
    },
  );
  // Only a kernel captures it.
  attention.hidden = !store.source.changed;
  const remark = el("p", { class: "remark" });
  const content = el("div", { class: "effect" });
  const summary = el("div", { class: "unseen", "aria-live": "polite" });
  const element = el(
    "section",
    { class: "effects", "aria-label": "Effect of what is off" },
    el("div", { class: "off-row" }, el("span", {}, "Without"), chips, allOn),
    remark,
    attention,
    content,
    summary,
  );

  scope.effect(() => {
    element.hidden = !offNow(state);
    const root = element.getRootNode();
    const active = root instanceof ShadowRoot ? root.activeElement : null;
    const at = [...chips.children].indexOf(active as Element);
    chips.replaceChildren(...chipsOf(state));
    if (at < 0) return;
    // The next chip takes the focus of the one that goes.
    const next = chips.children[Math.min(at, chips.children.length - 1)] as HTMLElement | undefined;
    if (next) next.focus();
    else leave();
  });
  scope.effect(() => {
    const now = result.value;
    const waiting = now?.status === "waiting";
    setAttributes(content, { "aria-busy": waiting });
    remark.textContent = waiting
      ? "Waiting for the kernel, which runs the model …"
      : [
          state.off.value.length ? "Zeros replace the outputs of heads." : "",
          state.cut.value.length ? "Cut links have score −∞; the softmax is taken anew." : "",
        ].join(" ");
    // Until the new numbers are here, those before stay, faded.
    if (waiting) return;
    if (now === null) content.replaceChildren();
    else if (now.status === "ready") {
      const shown = shownOf(now);
      content.replaceChildren(...shown.content);
      summary.textContent = shown.summary;
    } else {
      const absent = now.absent ? "absent" : "";
      content.replaceChildren(el("p", { class: `notice ${absent}`, role: "alert" }, now.message));
      summary.textContent = "";
    }
  });
  scope.effect(() => {
    setAttributes(attention, { "aria-pressed": `${state.withoutOff.value}` });
  });
  const tables = computed(() => {
    const now = result.value;
    return now?.status === "ready" ? [shownOf(now).table] : [];
  });
  return { element, tables };
}

const shownOf = ({ effect, query, others }: Extract<Measured, { status: "ready" }>) =>
  effect.predicts === null ? states(effect, others) : predictions(effect, query, others);

const chipsOf = (state: State): readonly HTMLElement[] => [...headChips(state), ...cutChips(state)];

/** A chip for every cut link. */
const cutChips = (state: State): readonly HTMLElement[] =>
  state.cut.value.map((cut) => {
    const [stack, link] = [state.shown.stack.value, [cut[0], cut[1]] as const];
    const where = headsText(cut);
    const name = `${linkName(stack, link)} in ${/^\d+-/.test(where) ? "head " : ""}${where}`;
    const chipped = chip(linkText(stack, link), `Restore ${name}`, () => restore(state, cut));
    chipped.classList.add("cut");
    chipped.prepend(el("span", {}, where));
    return chipped;
  });

/** A chip for every head that is off, or for a layer of which all are. */
function headChips(state: State): readonly HTMLElement[] {
  const byLayer = new Map<number, number[]>();
  for (const [layer, head] of state.off.value) {
    byLayer.set(layer, [...(byLayer.get(layer) ?? []), head]);
  }
  const { layers } = state.shown.stack.value;
  return [...byLayer].flatMap(([layer, off]) => {
    const count = layers.find(({ number }) => number === layer)?.heads ?? 0;
    if (count > 1 && off.length === count) {
      const label = `Switch layer ${layer} on again`;
      return [chip(`layer ${layer}`, label, () => toggleLayerOff(state, layer))];
    }
    return off.map((head) =>
      chip(`${layer}-${head}`, `Switch head ${layer}-${head} on again`, () =>
        toggleOff(state, layer, head),
      ),
    );
  });
}

function chip(text: string, label: string, switchOn: () => void): HTMLButtonElement {
  const element = button({ class: "off-chip", "aria-label": label, title: label }, "", switchOn);
  element.append(el("bdi", {}, text));
  element.append(el("span", { "aria-hidden": "true" }, "✕"));
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Backspace" && event.key !== "Delete") return;
    event.preventDefault();
    switchOn();
  });
  return element;
}
