/** A list of the heads of all layers, from the highest to the lowest of a metric. */

import { computed, signal } from "@preact/signals-core";
import { type Head, type Metric, metricValue } from "../../data/manifest.ts";
import { headPlace } from "../../data/pairing.ts";
import { button, el, setAttributes, tableElement } from "../../parts/dom.ts";
import { within } from "../../state/state.ts";
import { allHeads, ranked, sameHead } from "../shared/all-heads/heads.ts";
import { briefly, described, headName, inFull, ordered } from "../shared/all-heads/words.ts";
import type { Context } from "../shared/view.ts";
import { reveal } from "./grid.ts";
import type { ModelHeads } from "./heads.ts";
import { barsOn } from "./summary.ts";

/** The most heads that are listed at first. */
const MOST = 500;
/** The width of the first columns, and of a metric. */
const FIRST = 360;
const COLUMN = 92;
/** The size of the sticky header. */
const COVERED = { left: 0, top: 38 } as const;

/** @param width in CSS pixels, which limits the number of columns */
export function ranking(
  { scope, state, store }: Context,
  heads: ModelHeads,
  width: number,
): HTMLElement {
  const { patterns } = store.manifest;
  const { rows: ofGrid, sort, metric: written, coloring, current, choose, enter } = heads;
  const metrics = state.shown.metrics.value;
  const by = sort.value ?? written.value;
  const all = ranked(allHeads(ofGrid.value), by);
  const beside = by.null;
  const room = (width - FIRST) / COLUMN - (beside ? 1 : 0);
  const columns = ordered(by, metrics).slice(0, Math.max(1, Math.floor(room)));
  const values = all.map((head) => metricValue(by, head) ?? 0);
  const barOf = barsOn(values);
  const whole = signal(false);

  const headers: (HTMLElement | string)[] = columns.map((metric) => {
    const name = metric.name.replaceAll("_", " ");
    const title = metric.description || metric.label;
    return button({ title, "aria-label": `Rank by ${metric.label}` }, name, () => {
      state.sort.value = metric.name;
    });
  });
  if (beside) headers.splice(1, 0, beside.label);
  const row = (head: Head, at: number) => {
    const open = button(
      { "aria-label": headName(head), tabindex: -1 },
      headPlace(head),
      ({ detail }) => {
        // The keyboard's click opens the head at once, as Enter does everywhere.
        if (detail === 0) enter(head);
      },
    );
    const square = el("span", { "aria-hidden": "true" }, "■ ");
    const cell = (metric: Metric, own: number | null) =>
      el("td", { title: inFull(metric, own) }, briefly(metric, own));
    const cells = columns.map((metric) => cell(metric, metricValue(metric, head)));
    if (beside) cells.splice(1, 0, cell(by, metricValue(beside, head)));
    const element = el(
      "tr",
      {},
      el("td", {}, `${at + 1}`),
      el("th", { scope: "row" }, open),
      el("td", { class: "kind" }, square, described(patterns, head)),
      el("td", { class: "bar-cell" }, barOf(values[at])),
      ...cells,
    );
    element.addEventListener("click", ({ detail }) => {
      if (detail === 1) choose(head);
    });
    element.addEventListener("dblclick", () => enter(head));
    return { head, element, open, square };
  };
  const rows = computed(() => (whole.value ? all : all.slice(0, MOST)).map(row));
  const more = button({ class: "control" }, `Show all ${all.length.toLocaleString("en")}`, () => {
    whole.value = true;
  });
  const label = `Heads of all layers by ${by.label}`;
  const table = tableElement(label, ["rank", "head", "pattern", "", ...headers], []);
  const [body] = table.tBodies;
  const names = table.rows[0].cells;
  names[2].className = "kind";
  names[4].ariaSort = "descending";
  const element = el("div", { class: "ranking" }, table, more);
  scope.effect(() => {
    body.replaceChildren(...rows.value.map((each) => each.element));
    more.hidden = rows.value.length === all.length;
  });
  scope.effect(() => {
    for (const { head, square } of rows.value) square.style.color = coloring.value.colorOf(head);
  });
  /** The row of the current head; the first one if it is not listed. */
  const at = computed(() => {
    const found = rows.value.findIndex(({ head }) => sameHead(head, current.value));
    return Math.max(0, found);
  });
  scope.effect(() => {
    const { element: line, open } = rows.value[at.value];
    setAttributes(line, { "aria-current": "true" });
    open.tabIndex = 0;
    // The list begins with its first row, wherever the current head is.
    if (line.isConnected) reveal(line, COVERED);
    return () => {
      line.removeAttribute("aria-current");
      open.tabIndex = -1;
    };
  });
  body.addEventListener("keydown", (event) => {
    const last = rows.peek().length - 1;
    const to = {
      ArrowUp: at.peek() - 1,
      ArrowDown: at.peek() + 1,
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const { head, open } = rows.peek()[within(to, last + 1)];
    choose(head);
    open.focus({ preventScroll: true });
  });
  return element;
}
