/** The grid of the model view: a cell per head over their pictures, and the way to a cell. */

import type { Head, Manifest, Metric } from "../../data/manifest.ts";
import type { Thumbnail } from "../../data/thumbnails.ts";
import type { Paint } from "../../painting/painter.ts";
import { el, setAttributes } from "../../parts/dom.ts";
import { doubts, remarks } from "../../parts/fidelity.ts";
import type { Choices, HeadPlace } from "../../state/choices.ts";
import type { Palette } from "../../styles/palette.ts";
import type { Coloring } from "../shared/all-heads/color.ts";
import type { Row } from "../shared/all-heads/order.ts";
import { description, headName } from "../shared/all-heads/status.ts";
import { paintThumbnail } from "../shared/all-heads/thumbnail.ts";
import type { ModelLayout } from "./layout.ts";
import { modelPictures, type Pictures } from "./pictures.ts";
import { type Means, meanBars, meanName, meanText } from "./summary.ts";

export interface ModelGrid {
  /** The element of role "grid", which takes the keys. */
  readonly element: HTMLElement;
  readonly fill: Pictures["fill"];
  readonly setGap: Pictures["setGap"];
  cell(row: number, column: number): HTMLElement | undefined;
  /** Mark the cells of the heads that are switched off, and no others. */
  markOff(off: readonly HeadPlace[]): void;
  /** The head of the cell that an event targets. */
  headAt(event: Event): Head | null;
}

export function modelGrid(
  rows: readonly Row[],
  { patterns }: Manifest,
  layout: ModelLayout,
  sort: Metric | null,
  means: Means,
): ModelGrid {
  const headOfCell = new Map<Element | null, Head>();
  const rowMeans = layout.summary ? meanBars(means.ofMeans, means.rows) : [];
  const pictures = modelPictures(rows.length, layout);
  const cells: HTMLElement[][] = [];

  const lines = rows.map(({ layer, heads }, index) => {
    const title = [`Layer ${layer.number}`, ...remarks(layer)].join(": ");
    const number = el(
      "div",
      {
        role: "rowheader",
        title,
        "aria-description": meanText(means.ofMeans, means.rows[index]),
      },
      `${layer.number}`,
    );
    if (doubts(layer).length) number.append(el("span", { class: "warning" }, " ⚠"));
    const rowCells = heads.map((head) => {
      const cell = el("div", {
        role: "gridcell",
        id: `cell-${layer.number}-${head}`,
        "aria-label": headName({ layer, head }),
        "aria-description": description({ layer, head }, patterns, means.metric),
        "aria-selected": "false",
      });
      if (sort) cell.append(el("span", { class: "caption" }, `${head}`));
      headOfCell.set(cell, { layer, head });
      return cell;
    });
    cells.push(rowCells);
    return el("div", { role: "row" }, number, ...rowCells, ...rowMeans.slice(index, index + 1));
  });

  const top = columnHeaders(rows, layout, sort, means);
  const bottom = el(
    "div",
    { class: "column-means", "aria-hidden": "true" },
    meanName(means.metric),
    ...meanBars(means.ofMeans, means.columns, layout.across + layout.gap),
  );
  const element = el(
    "div",
    {
      role: "grid",
      "aria-label": "Heads of every layer",
      tabindex: 0,
      class: layout.fit,
    },
    top,
    ...lines,
    bottom,
    pictures.element,
  );
  for (const name of LENGTHS) element.style.setProperty(`--${name}`, `${layout[name]}px`);
  return {
    element,
    fill: pictures.fill,
    setGap(below, space) {
      lines.forEach((line, row) => {
        line.style.marginBottom = row === below ? `${space}px` : "";
      });
      pictures.setGap(below, space);
    },
    cell: (row, column) => cells[row]?.[column],
    markOff(off) {
      const names = new Set(off.map((place) => place.join("-")));
      for (const [cell, { layer, head }] of headOfCell) {
        const isOff = names.has(`${layer.number}-${head}`);
        if (!cell || cell.classList.contains("off") === isOff) continue;
        cell.classList.toggle("off", isOff);
        const words = description({ layer, head }, patterns, means.metric);
        setAttributes(cell, { "aria-description": isOff ? `${words}, switched off` : words });
      }
    },
    headAt: (event) => headOfCell.get((event.target as Element).closest("[role=gridcell]")) ?? null,
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
  { metric, ofMeans, columns: means }: Means,
): HTMLElement {
  const longest = rows.find(({ heads }) => heads.length === columns)?.heads ?? [];
  const heads = longest.map((head, column) =>
    el(
      "div",
      {
        role: "columnheader",
        "aria-label": sort ? `Rank ${column + 1}` : `Head ${head}`,
        "aria-description": meanText(ofMeans, means[column]),
      },
      sort ? "" : `${head}`,
    ),
  );
  const order = el("div", { class: "order", "aria-hidden": "true" });
  if (sort) order.append(`${sort.label}, highest → lowest`);
  const directions = el(
    "div",
    { class: "directions" },
    sort ? "" : el("span", {}, "head →"),
    el("span", {}, "layer ↓"),
  );
  return el(
    "div",
    { role: "row", class: "column-names" },
    el("div", { class: "corner", "aria-hidden": "true" }, directions, order),
    ...heads,
    summary ? meanName(metric) : "",
  );
}

const MARGIN = 8;

export interface Revealed {
  readonly scroller: HTMLElement | null;
  readonly cell: HTMLElement;
  /** The panel below the cell, shown as far as the cell stays in sight. */
  readonly below: HTMLElement | null;
  /** The sizes of the sticky header column and row. */
  readonly covered: { readonly left: number; readonly top: number };
  /** True to centre the head, if the view has not scrolled to a head before. */
  readonly first: boolean;
}

export function reveal({ scroller, cell, below, covered, first }: Revealed): void {
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

export interface Painting {
  readonly layout: ModelLayout;
  readonly kind: Choices["thumbnails"];
  readonly coloring: Coloring;
  readonly palette: Palette;
  thumbnailOf(head: Head): Thumbnail;
}

/** Returns a function that paints a layer from its left upper corner. */
export function rowPaint(
  { layout, kind, coloring, palette, thumbnailOf }: Painting,
  { layer, heads }: Row,
): Paint {
  const { across, down, gap } = layout;
  return (painter, ratio) => {
    heads.forEach((head, column) => {
      const x = column * (across + gap) + gap / 2;
      const color = coloring.colorOf({ layer, head });
      const thumbnail = thumbnailOf({ layer, head });
      paintThumbnail(painter, ratio, kind, thumbnail, [x, 0, across, down], color, palette);
      painter.fillStyle = color;
      painter.fillRect(x + 4, down + 3, across - 8, 2.5);
    });
  };
}
