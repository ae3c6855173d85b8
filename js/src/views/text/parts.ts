/** The list of parts: the share of each, what it is compared with, and what its cut changes. */

import { computed } from "@preact/signals-core";
import { button, el, replaceContent, tableElement, tableRow } from "../../parts/dom.ts";
import { icon } from "../../parts/icons.ts";
import { percent } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { changeOf, nats } from "./cutting.ts";
import type { Reading } from "./reading.ts";
import { isMarked, type Look } from "./shares.ts";

/** The rows that are shown at first. */
const FEW = 8;

const NO_KERNEL = "Cutting runs the model: open this in a notebook.";

/** @param remove takes the reader's own part away again */
export function partList(
  scope: Scope,
  { text, parts, mine, look, part, lockPart, pointed, shown: span, cutting, ofWhat }: Reading,
  remove: () => void,
): HTMLElement {
  const { cuts, live, without } = cutting;
  const columns: (string | HTMLElement)[] = ["part of the prompt", "", "share", ""];
  const hasCuts = Boolean(text.answer) && (live || cuts.peek().some(Boolean));
  if (hasCuts) {
    const title = "Cut each part in turn (key e)";
    const all = button({ title }, "if cut", cutting.measureAll);
    if (live) all.prepend(icon("scissors"));
    columns.push(live ? all : "if cut");
  }
  const table = tableElement("Where it looks", columns, []);
  const [body] = table.tBodies;
  const [, , shareHead, besideHead] = table.rows[0].cells;
  const widest = computed(() => Math.max(...look.value.parts.map(({ share }) => share), 0.01));
  const ifCut = (index: number) => {
    const change = changeOf(cuts.value[index], span.value);
    const pressed = without.value === index;
    if (change === null && !live) return el("span", {}, "–");
    const label = `Cut ${parts[index].name}`;
    const cut = button(
      {
        class: change !== null && change <= -0.5 ? "less" : "",
        title: `${label}: the change of the log probability, in nats, of all tokens that are looked at`,
        "aria-label": change === null ? label : `${label}: ${nats(change)}`,
        "aria-pressed": `${pressed}`,
      },
      change === null ? "" : nats(change),
      () => cutting.toggle(index),
    );
    if (change === null) cut.append(icon("scissors"));
    return cut;
  };
  let all = false;
  const more = button({ class: "more" }, "", () => {
    all = !all;
    fill(look.peek());
  });
  // Rows are kept, so that what has the focus keeps it.
  const rows = parts.map((each, index) => {
    const { name, words } = each;
    const shown = each.isNamed && words ? `${name} · ${words}` : words || name;
    const lock = button({ "data-part": index, dir: "auto" }, shown, () => lockPart(index));
    const texts = columns.slice(1).map(() => "");
    const row = tableRow(lock, texts);
    const [head, ...cells] = row.cells;
    head.title = words || name;
    head.prepend(el("span", { class: "number" }, `${index + 1}`));
    cells[2].className = "range";
    if (index === mine) {
      const label = `Remove ${each.name}`;
      lock.after(button({ class: "close", title: label, "aria-label": label }, "×", remove));
    }
    row.addEventListener("pointerenter", () => {
      pointed.value = index;
    });
    row.addEventListener("pointerleave", () => {
      pointed.value = null;
    });
    scope.effect(() => {
      lock.setAttribute("aria-pressed", `${part.value === index}`);
      row.classList.toggle("pointed", pointed.value === index);
    });
    if (hasCuts) scope.effect(() => replaceContent(cells[3], ifCut(index)));
    return { row, cells };
  });
  const fill = (now: Look) => {
    besideHead.textContent = now.beside;
    shareHead.title = ofWhat.peek();
    const shown = now.parts.slice(0, all || now.parts.length <= FEW + 2 ? undefined : FEW);
    for (const { index, share, beside } of shown) {
      const { row, cells } = rows[index];
      row.classList.toggle("marked", isMarked({ share, beside }));
      cells[0].replaceChildren(
        bar(share / widest.peek(), beside === null ? null : beside / widest.peek()),
      );
      cells[1].textContent = percent(share);
      const compared = beside === null ? "–" : percent(beside);
      cells[2].textContent = compared;
      const change = changeOf(cuts.value[index], span.peek());
      row.ariaLabel =
        `${[parts[index].name, parts[index].words].filter(Boolean).join(", ")}, share ${percent(share)}, ${now.beside} ${compared}` +
        (change === null ? "" : `, if cut ${nats(change)}`);
    }
    const found = shown.map(({ index }) => rows[index].row);
    if (found.some((row, at) => row !== body.children[at]) || found.length < body.children.length) {
      const active = (body.getRootNode() as Document | ShadowRoot).activeElement;
      body.replaceChildren(...found);
      if (active instanceof HTMLElement && body.contains(active)) {
        active.focus({ preventScroll: true });
      }
    }
    more.hidden = found.length === now.parts.length && !all;
    more.textContent = all ? "Fewer" : `${now.parts.length - found.length} more`;
  };
  scope.effect(() => fill(look.value));
  body.addEventListener("keydown", ({ key, target }) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[key];
    const locks = [...body.querySelectorAll<HTMLElement>("[data-part]")];
    const at = locks.indexOf(target as HTMLElement);
    if (by && at >= 0) locks[at + by]?.focus();
  });
  const note = el("p", { class: "note", role: "status" });
  scope.effect(() => {
    note.textContent = cutting.message.value || (live || !text.answer || hasCuts ? "" : NO_KERNEL);
  });
  return el("div", { class: hasCuts ? "parts with-cuts" : "parts" }, table, more, note);
}

/** A bar with a tick for what it is compared with. */
function bar(share: number, beside: number | null): HTMLElement {
  const [filled, tick] = [el("i", {}), el("i", { hidden: beside === null })];
  filled.style.width = `${100 * share}%`;
  tick.style.left = `${100 * Math.min(1, beside ?? 0)}%`;
  return el("span", { class: "tick-bar", "aria-hidden": "true" }, filled, tick);
}
