/** The row of column headers. */

import { same } from "../../basics/same.ts";
import { el } from "../../parts/dom.ts";
import { fontOf, textMeasure } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { State } from "../../state/state.ts";
import type { ColumnHeader } from "./column-headers.ts";

/** The width of the rule beside altered numbers. */
const RULE = 8;

/** While something is hovered, no header changes: the status line says what does. */
export function headerRow(
  scope: Scope,
  state: State,
  headers: () => readonly ColumnHeader[],
): HTMLElement {
  const measure = { name: textMeasure(fontOf(13)), detail: textMeasure(fontOf(12, 500)) };
  const row = el("div", { class: "column-headers" });
  /** The texts of the headers while something is hovered. */
  let lasting: readonly ColumnHeader[] = [];

  scope.effect(() => {
    const hovered = state.hover.value !== null;
    const all = headers();
    const now = all.map((header) =>
      header.hovered ? { ...header, detail: [], title: "", hovered: [] } : header,
    );
    row.classList.toggle("looking", hovered);
    if (!hovered || !same(now, lasting)) row.replaceChildren(...all.map(elementOf));
    lasting = now;
  });

  function elementOf(header: ColumnHeader): HTMLElement {
    const { name, detail, hovered, title, altered, left, width, atEnd } = header;
    const full = title ?? [name[0], detail[0]].filter(Boolean).join(", ");
    const shownName = name.find((text) => measure.name(text) <= width) ?? name[name.length - 1];
    const available = width - (altered ? RULE : 0);
    const fitting = (texts: readonly string[], kind: string | undefined | false) => {
      const text = texts.find((text) => measure.detail(text) <= available) ?? "";
      return el("span", { class: kind ? `detail ${kind}` : "detail" }, text);
    };
    const element = el(
      "div",
      { title: full, class: atEnd && "at-end" },
      el("span", {}, shownName),
      ...(hovered
        ? [fitting(detail, "resting"), fitting(hovered, "moving")]
        : [fitting(detail, altered && "altered")]),
    );
    element.style.left = `${left}px`;
    element.style.width = `${width}px`;
    return element;
  }

  return row;
}
