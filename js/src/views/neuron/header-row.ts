/** The row of column headers. */

import { el } from "../../parts/dom.ts";
import { type LiveText, liveText } from "../../parts/live-text.ts";
import { fontOf, textMeasure } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { State } from "../../state/state.ts";
import type { ColumnHeader } from "./column-headers.ts";

/** The width of the rule beside altered numbers. */
const RULE = 8;

export function headerRow(
  scope: Scope,
  state: State,
  headers: () => readonly ColumnHeader[],
): HTMLElement {
  const measure = { name: textMeasure(fontOf(13)), detail: textMeasure(fontOf(12, 500)) };
  const detailOf = ({ detail, altered, width }: ColumnHeader): string =>
    detail.find((text) => measure.detail(text) <= width - (altered ? RULE : 0)) ?? "";
  const row = el("div", { class: "column-headers" });
  /** The details that follow the pointer, by header. */
  let live: readonly (LiveText | null)[] = [];
  /** What the headers show, apart from those. */
  let lasting = "";

  scope.effect(() => {
    const hovered = state.hover.value !== null;
    const all = headers();
    const now = JSON.stringify(
      all.map((header) => (header.live ? { ...header, detail: [], title: "" } : header)),
    );
    row.classList.toggle("hovered", hovered);
    if (!hovered || now !== lasting) {
      live = all.map((header) =>
        header.live ? liveText(detailOf(header), Math.floor(header.width)) : null,
      );
      row.replaceChildren(...all.map((header, at) => elementOf(header, live[at])));
    }
    lasting = now;
    if (!hovered) return;
    live.forEach((text, at) => {
      text?.paint(detailOf(all[at]));
    });
  });

  function elementOf(header: ColumnHeader, text: LiveText | null): HTMLElement {
    const { name, detail, title, altered, left, width, atEnd } = header;
    const full = title ?? [name[0], detail[0]].filter(Boolean).join(", ");
    const shownName = name.find((text) => measure.name(text) <= width) ?? name[name.length - 1];
    const below = text?.element ?? el("span", {}, detailOf(header));
    below.classList.add("detail");
    below.classList.toggle("altered", altered === true);
    const element = el(
      "div",
      { title: full, class: atEnd && "at-end" },
      el("span", {}, shownName),
      below,
    );
    element.style.left = `${left}px`;
    element.style.width = `${width}px`;
    return element;
  }

  return row;
}
