/** The grid of the model view: a cell per head over their pictures, and the way to a cell. */

import type { Head, Manifest, Metric } from "../../data/manifest.ts";
import { isWhole, layerNumber } from "../../data/pairing.ts";
import { el, setAttributes } from "../../parts/dom.ts";
import { doubts, remarks } from "../../parts/fidelity.ts";
import type { HeadPlace } from "../../state/choices.ts";
import type { Row } from "../shared/all-heads/heads.ts";
import { described, headName, measured } from "../shared/all-heads/words.ts";
import type { ModelLayout } from "./layout.ts";
import { modelPictures } from "./pictures.ts";
import { type Means, meanBars, meanName, meansOf, meanText } from "./summary.ts";

/**
 * @param sort null for the order of the model
 * @param metric the one whose means stand at the edges
 */
export function modelGrid(
  rows: readonly Row[],
  { patterns }: Manifest,
  layout: ModelLayout,
  sort: Metric | null,
  metric: Metric,
) {
  const headOfCell = new Map<Element | null, Head>();
  const wordsOf = (head: Head) => `${described(patterns, head)}, ${measured(metric, head)}`;
  const means = meansOf(rows, metric);
  const rowMeans = layout.summary ? meanBars(means.metric, means.rows) : [];
  const pictures = modelPictures(rows.length, layout);
  const cells: HTMLElement[][] = [];

  const lines = rows.map(({ layer, heads }, index) => {
    const title = [`Layer ${layerNumber(layer)}`, ...remarks(layer)].join(": ");
    const mean = meanText(means.metric, means.rows[index]);
    const attributes = { role: "rowheader", title, "aria-description": mean };
    const number = el("div", attributes, layerNumber(layer));
    if (doubts(layer).length) number.append(el("span", { class: "warning" }, " ⚠"));
    const rowCells = heads.map((head) => {
      const cell = el("div", {
        role: "gridcell",
        id: `cell-${layer.number}-${head}`,
        "aria-label": headName({ layer, head }),
        "aria-description": wordsOf({ layer, head }),
        "aria-selected": "false",
      });
      if (sort) cell.append(el("span", { class: "caption" }, `${head}`));
      headOfCell.set(cell, { layer, head });
      return cell;
    });
    cells.push(rowCells);
    return el("div", { role: "row" }, number, ...rowCells, ...rowMeans.slice(index, index + 1));
  });

  const bottom = el("div", { class: "column-means", "aria-hidden": "true" }, meanName(metric));
  bottom.append(...meanBars(means.metric, means.columns, layout.across + layout.gap));
  const label = "Heads of every layer";
  const element = el("div", { role: "grid", "aria-label": label, tabindex: 0, class: layout.fit });
  const top = columnHeaders(rows, layout, sort, means);
  element.append(top, ...lines, bottom, pictures.element);
  for (const name of LENGTHS) element.style.setProperty(`--${name}`, `${layout[name]}px`);
  return {
    /** The element of role "grid", which takes the keys. */
    element,
    fill: pictures.fill,
    repaint: pictures.repaint,
    /** See `modelPictures`. */
    setGap(below: number | null, space: number): void {
      lines.forEach((line, row) => {
        line.style.marginBottom = row === below ? `${space}px` : "";
      });
      pictures.setGap(below, space);
    },
    cell: (row: number, column: number): HTMLElement | undefined => cells[row]?.[column],
    /** Mark the cells of the heads that are switched off, and no others. */
    markOff(off: readonly HeadPlace[]): void {
      const names = new Set(off.map((place) => place.join("-")));
      for (const [cell, { layer, head }] of headOfCell) {
        const isOff = names.has(`${layer.number}-${head}`);
        if (!cell || cell.classList.contains("off") === isOff) continue;
        cell.classList.toggle("off", isOff);
        const words = wordsOf({ layer, head });
        setAttributes(cell, { "aria-description": isOff ? `${words}, switched off` : words });
      }
    },
    /** The head of the cell that an event targets. */
    headAt: ({ target }: Event): Head | null =>
      headOfCell.get((target as Element).closest("[role=gridcell]")) ?? null,
  };
}

/** The lengths that the style sheet uses. */
const LENGTHS = [
  "left",
  "top",
  "across",
  "down",
  "gap",
  "below",
  "rowPitch",
  "summary",
] as const satisfies readonly (keyof ModelLayout)[];

/** The header row: the numbers of the heads, or the order if every layer has its own. */
function columnHeaders(
  rows: readonly Row[],
  { columns, summary }: ModelLayout,
  sort: Metric | null,
  { metric, columns: means }: Means,
): HTMLElement {
  const longest = rows.find(({ heads }) => heads.length === columns)?.heads ?? [];
  const whole = rows.some(({ layer }) => isWhole(layer));
  const heads = longest.map((head, column) => {
    const name = sort ? `Rank ${column + 1}` : whole ? "All channels" : `Head ${head}`;
    const mean = meanText(metric, means[column]);
    const attributes = { role: "columnheader", "aria-label": name, "aria-description": mean };
    return el("div", attributes, sort || whole ? "" : `${head}`);
  });
  const order = el("div", { class: "order", "aria-hidden": "true" });
  if (sort) order.append(`${sort.label}, highest → lowest`);
  const directions = el("div", { class: "directions" });
  directions.append(sort ? "" : el("span", {}, "head →"), el("span", {}, "layer ↓"));
  const corner = el("div", { class: "corner", "aria-hidden": "true" }, directions, order);
  const row = el("div", { role: "row", class: "column-names" }, corner, ...heads);
  if (summary) row.append(meanName(metric));
  return row;
}

const MARGIN = 8;

/**
 * Scroll the view to a cell.
 *
 * @param covered the sizes of the sticky header column and row
 * @param below the panel below the cell, shown as far as the cell stays in sight
 * @param first true to centre the head, if the view has not scrolled to a head before
 */
export function reveal(
  cell: HTMLElement,
  covered: { readonly left: number; readonly top: number },
  below: HTMLElement | null = null,
  first = false,
): void {
  const scroller = cell.closest<HTMLElement>(".body");
  if (!scroller) return;
  const [outer, inner] = [scroller.getBoundingClientRect(), cell.getBoundingClientRect()];
  const [top, bottom] = [outer.top + covered.top + MARGIN, outer.top + scroller.clientHeight];
  const lowest = Math.max(inner.bottom, below?.getBoundingClientRect().bottom ?? 0) + MARGIN;
  const hidden = inner.top < top || lowest > bottom;
  if (first && hidden && !below)
    scroller.scrollTop += (inner.top + inner.bottom - top - bottom) / 2;
  else if (inner.top < top) scroller.scrollTop += inner.top - top;
  else if (lowest > bottom) scroller.scrollTop += Math.min(lowest - bottom, inner.top - top);
  const [left, right] = [outer.left + covered.left + MARGIN, outer.left + scroller.clientWidth];
  if (inner.left < left) scroller.scrollLeft += inner.left - left;
  else if (inner.right + MARGIN > right) scroller.scrollLeft += inner.right + MARGIN - right;
}
