/** A button per head: a click shows or hides its lines, a double-click shows it alone. */

import { batch, type ReadonlySignal } from "@preact/signals-core";
import type { Metric } from "../data/manifest.ts";
import { isWhole } from "../data/pairing.ts";
import type { Scope } from "../scheduling/scope.ts";
import { shownLens } from "../state/lens.ts";
import { activeHeads, goTo } from "../state/navigation.ts";
import { isOff, toggleOff } from "../state/off.ts";
import { choose, type State } from "../state/state.ts";
import { headColors, textOn } from "../styles/head-colors.ts";
import { alpha, type Palette } from "../styles/palette.ts";
import { button, el, setAttributes } from "./dom.ts";
import { number } from "./text.ts";

export function swatches(
  scope: Scope,
  state: State,
  heads: number,
  palette: ReadonlySignal<Palette>,
): HTMLElement {
  const group = el("div", { class: "swatches", role: "group", "aria-label": "Heads" });
  /** The head that was clicked last without Shift, where a range begins. */
  let anchor = state.shown.head.peek();
  const whole = isWhole(state.shown.layer.peek());
  const buttons = Array.from({ length: heads }, (_, head) => {
    const name = whole ? "All channels" : `Head ${head}`;
    const title = `${name}: click to show or hide, double-click for this head alone, shift-click for a range, alt-click to switch it off in the model`;
    const swatch = button({ "aria-label": name, title }, whole ? "all" : `${head}`, (event) => {
      if (event.altKey) toggleOff(state, state.shown.layer.peek().number, head);
      else if (event.shiftKey) range(state, heads, anchor, head);
      else {
        toggle(state, heads, head);
        anchor = head;
      }
    });
    swatch.addEventListener("dblclick", (event) => {
      if (!event.shiftKey && !event.altKey) solo(state, heads, head);
    });
    return swatch;
  });
  const all = button({ class: "some" }, "All", () => {
    state.heads.value = null;
  });
  const alone = button({ class: "some" }, "", () =>
    setActive(state, heads, new Set([state.shown.head.peek()])),
  );
  group.append(...buttons);
  // One Tab stop; arrows move between the heads.
  const stopAt = (to: number) =>
    buttons.forEach((swatch, at) => {
      swatch.tabIndex = at === to ? 0 : -1;
    });
  group.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    const to = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: heads - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    buttons[to]?.focus();
  });
  group.addEventListener("focusin", ({ target }) =>
    stopAt(buttons.indexOf(target as HTMLButtonElement)),
  );
  scope.effect(() => stopAt(state.shown.head.value));
  const element = el("div", { class: "swatch-row" }, group);
  // A single head is always shown, so there is nothing to choose.
  if (heads > 1) element.append(el("div", {}, all, alone));
  scope.effect(() => {
    const current = state.shown.head.value;
    alone.textContent = `None but ${current}`;
    const active = activeHeads(state, heads);
    // Not "disabled", with which the pressed button would lose the focus.
    setAttributes(all, { "aria-disabled": `${active.length === heads}` });
    const isAlone = active.length === 1 && active[0] === current;
    setAttributes(alone, { "aria-disabled": `${isAlone}` });
  });
  scope.effect(() => {
    const active = new Set(activeHeads(state, heads));
    const { stack, layer, metrics } = state.shown;
    // A bar says how much of its attention moves.
    const moved = metrics.value.find(({ name }) => stack.value.difference && name === "moved");
    const shares = moved?.values.get(layer.value) ?? [];
    const most = Math.max(...shares.map((share) => share ?? 0)) || 1;
    // Lines of differences and scores have the colours of signs.
    const bySign = stack.value.difference || shownLens(state).signed;
    const colors = bySign
      ? Array<string>(heads).fill(palette.value.neutral)
      : headColors(heads, palette.value.dark);
    buttons.forEach((swatch, head) => {
      const on = active.has(head);
      swatch.setAttribute("aria-pressed", `${on}`);
      swatch.classList.toggle("current", head === state.shown.head.value);
      const off = isOff(state, state.shown.layer.value.number, head);
      swatch.classList.toggle("off", off);
      const share = shares[head] ?? null;
      swatch.classList.toggle("moves", share !== null);
      swatch.style.setProperty("--moved", `${(100 * (share ?? 0)) / most}%`);
      setAttributes(swatch, { "aria-description": description(off, moved, share) });
      swatch.style.background = on ? colors[head] : alpha(colors[head], 0.18);
      swatch.style.color = on ? textOn(colors[head]) : "";
    });
  });
  return element;
}

function description(off: boolean, moved: Metric | undefined, share: number | null) {
  if (off) return "switched off";
  return moved && share !== null && `${number(share, moved.digits)} of its attention moves`;
}

/** Show or hide a head. A head that is shown becomes the current one; the last one stays. */
function toggle(state: State, heads: number, head: number): void {
  const active = new Set(activeHeads(state, heads));
  const isNew = !active.delete(head);
  if (isNew) active.add(head);
  batch(() => {
    if (isNew) goTo(state, { head });
    if (active.size) setActive(state, heads, active);
  });
}

function solo(state: State, heads: number, head: number): void {
  const active = activeHeads(state, heads);
  const alone = active.length === 1 && active[0] === head;
  batch(() => {
    goTo(state, { head });
    if (alone) state.heads.value = null;
    else setActive(state, heads, new Set([head]));
  });
}

/** Show the heads between two, and no others. */
function range(state: State, heads: number, from: number, to: number): void {
  const [first, last] = [Math.min(from, to), Math.max(from, to)];
  const between = Array.from({ length: last - first + 1 }, (_, n) => first + n);
  batch(() => {
    goTo(state, { head: to });
    setActive(state, heads, new Set(between));
  });
}

function setActive(state: State, heads: number, active: ReadonlySet<number>): void {
  const all = active.size === heads;
  choose(state, "heads", all ? null : [...active].sort((a, b) => a - b));
}
