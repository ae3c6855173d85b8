/** The answer below the prompt: its tokens, of which one or several are looked at. */

import { signal } from "@preact/signals-core";
import { paintCanvas } from "../../painting/canvas.ts";
import { el, revealWithin, setAttributes } from "../../parts/dom.ts";
import { within } from "../../state/state.ts";
import type { Context } from "../shared/view.ts";
import type { Reading } from "./reading.ts";

/** The height of the line below a token, in CSS pixels. */
const LINE = 3;

export function dock(
  { scope, palette }: Context,
  { text, labels, span, hovered, cutting, lookers }: Reading,
): HTMLElement {
  const { answer } = text;
  const count = labels.length;
  const options = labels.map((label, at) => {
    const [start, end] = answer?.offsets.slice(2 * at, 2 * at + 2) ?? [-1, -1];
    const content = start < 0 || !answer ? label : answer.text.slice(start, end);
    const p = answer ? `, p ${answer.p[at].toFixed(3)}` : "";
    const option = el(
      "span",
      {
        role: "option",
        id: `written-${at}`,
        class: start < 0 && answer ? "mark" : "",
        "aria-label": `${label}, token ${at + 1} of ${count}${p}`,
        title: answer?.likeliest[at].map(([name, of]) => `${name} ${of.toFixed(3)}`).join("\n"),
      },
      content,
    );
    option.addEventListener("pointerenter", () => {
      hovered.value = at;
    });
    option.addEventListener("click", ({ shiftKey }) => choose(at, shiftKey));
    return option;
  });
  let anchor = 0;
  const choose = (at: number, extended: boolean) => {
    hovered.value = null;
    // Another view may have locked the token.
    const locked = span.value;
    if (!extended) anchor = at;
    else if (!locked?.includes(anchor)) anchor = locked?.[0] ?? at;
    span.value = [Math.min(anchor, at), Math.max(anchor, at)];
  };
  const list = el(
    "div",
    {
      role: "listbox",
      class: "written",
      tabindex: 0,
      dir: "auto",
      "aria-label": answer ? "Answer" : "Tokens",
      "aria-multiselectable": "true",
    },
    // Labels have no spaces of their own.
    ...(answer ? options : options.flatMap((option) => [option, " "])),
  );
  // It would select the text between two clicks.
  list.addEventListener("mousedown", (event) => event.shiftKey && event.preventDefault());
  list.addEventListener("pointerleave", () => {
    hovered.value = null;
  });
  list.addEventListener("keydown", (event) => {
    const [first, last] = span.value ?? [-1, -1];
    const rightToLeft = getComputedStyle(list).direction === "rtl" ? -1 : 1;
    const by = { ArrowRight: rightToLeft, ArrowLeft: -rightToLeft }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const from = event.shiftKey && anchor === last ? first : last;
    choose(within(from + by, count), event.shiftKey && first >= 0);
  });
  scope.effect(() => {
    const locked = span.value;
    options.forEach((option, at) => {
      const selected = locked !== null && at >= locked[0] && at <= locked[1];
      setAttributes(option, { "aria-selected": `${selected}` });
    });
    const active = locked && options[locked[1]];
    setAttributes(list, { "aria-activedescendant": active?.id });
    // Within the answer alone: the page stays where its reader is.
    if (active) revealWithin(list.parentElement, active);
  });
  scope.effect(() => {
    options.forEach((option, at) => {
      option.style.setProperty("--looks", `${lookers.value?.[at] ?? 0}`);
    });
  });
  const canvas = el("canvas", { "aria-hidden": "true" });
  const size = signal(0);
  scope.onResize(list, () => {
    size.value++;
  });
  // The probability of each token as a line below it, of the token's width: what it has, and what a
  // cut took or gave.
  scope.effect(() => {
    const part = cutting.without.value;
    const cut = part === null ? null : cutting.cuts.value[part];
    const { accent, border, highlight, negative } = palette.value;
    size.value;
    paintCanvas(canvas, list.offsetWidth, list.offsetHeight, (painter) => {
      if (!answer) return;
      // Here, since a figure paints it in another layout.
      const { left, top } = list.getBoundingClientRect();
      options.forEach((option, at) => {
        const box = [...option.getClientRects()].at(-1);
        if (!box) return;
        const before = answer.p[at];
        const after = Math.min(1, before * Math.exp(cut?.changes[at] ?? 0));
        const line = (color: string, p: number) => {
          painter.fillStyle = color;
          painter.fillRect(box.left - left, box.bottom - top - LINE, box.width * p, LINE);
        };
        line(border, 1);
        line(after < before ? negative : highlight, Math.max(before, after));
        line(accent, Math.min(before, after));
      });
    });
  });
  const isChat = text.messages.some(({ role }) => role === "user");
  const role = answer ? (isChat ? "assistant" : "answer") : "";
  const note = answer
    ? ""
    : el("p", { class: "note" }, "The model generated nothing here: choose a token of the text.");
  return el(
    "section",
    { class: "message dock" },
    el("h3", { class: "role" }, role),
    el("div", { class: "said" }, canvas, list, note),
  );
}
