/** A list of the heads of all layers, from the highest to the lowest of a metric. */

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { type Head, type Metric, metricValue, type Patterns } from "../../data/manifest.ts";
import { button, el, setAttributes } from "../../parts/dom.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { within } from "../../state/state.ts";
import type { Coloring } from "../shared/all-heads/color.ts";
import { ranked, sameHead } from "../shared/all-heads/order.ts";
import { described } from "../shared/all-heads/patterns.ts";
import { briefly, headName, inFull, ordered } from "../shared/all-heads/status.ts";
import { reveal } from "./grid.ts";
import { barsOn } from "./summary.ts";

export interface RankingOptions {
  readonly heads: readonly Head[];
  readonly metrics: readonly Metric[];
  /** The metric by which heads are ranked. */
  readonly by: Metric;
  readonly patterns: Patterns;
  readonly coloring: ReadonlySignal<Coloring>;
  readonly current: ReadonlySignal<Head>;
  /** The width in CSS pixels, which limits the number of columns. */
  readonly width: number;
  /** Ranks the heads by another metric. */
  rankBy(metric: Metric): void;
  choose(head: Head): void;
  enter(head: Head): void;
}

/** The most heads that are listed at first. */
const MOST = 500;
/** The width of the first columns, and of a metric. */
const FIRST = 360;
const COLUMN = 92;
/** The size of the sticky header. */
const COVERED = { left: 0, top: 38 } as const;

export function ranking(scope: Scope, options: RankingOptions): HTMLElement {
  const { metrics, by, patterns, coloring, current, width, rankBy, choose, enter } = options;
  const all = ranked(options.heads, by);
  const columns = ordered(by, metrics).slice(0, Math.max(1, Math.floor((width - FIRST) / COLUMN)));
  const values = all.map((head) => metricValue(by, head) ?? 0);
  const barOf = barsOn(values);
  const whole = signal(false);

  const headers = columns.map((metric) => {
    const name = metric.name.replaceAll("_", " ");
    const title = metric.description || metric.label;
    const sort = button({ title, "aria-label": `Rank by ${metric.label}` }, name, () =>
      rankBy(metric),
    );
    return el("th", { scope: "col", "aria-sort": metric === by ? "descending" : undefined }, sort);
  });
  const row = (head: Head, at: number) => {
    const open = button({ "aria-label": headName(head), tabindex: -1 }, "", ({ detail }) => {
      // The keyboard's click opens the head at once, as Enter does everywhere.
      if (detail === 0) enter(head);
    });
    open.textContent = `${head.layer.number}-${head.head}`;
    const square = el("span", { "aria-hidden": "true" }, "■ ");
    const cells = columns.map((metric) => {
      const own = metricValue(metric, head);
      return el("td", { title: inFull(metric, own) }, briefly(metric, own));
    });
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
  const body = el("tbody", {});
  const more = button({ class: "control" }, `Show all ${all.length.toLocaleString("en")}`, () => {
    whole.value = true;
  });
  const element = el(
    "div",
    { class: "ranking" },
    el(
      "table",
      { "aria-label": `Heads of all layers by ${by.label}` },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "col" }, "rank"),
          el("th", { scope: "col" }, "head"),
          el("th", { scope: "col", class: "kind" }, "pattern"),
          el("td", {}),
          ...headers,
        ),
      ),
      body,
    ),
    more,
  );
  scope.effect(() => {
    body.replaceChildren(...rows.value.map((each) => each.element));
    more.hidden = rows.value.length === all.length;
  });
  scope.effect(() => {
    for (const { head, square } of rows.value) square.style.color = coloring.value.colorOf(head);
  });
  /** The row of the current head; the first one if it is not listed. */
  const at = computed(() =>
    Math.max(
      0,
      rows.value.findIndex(({ head }) => sameHead(head, current.value)),
    ),
  );
  scope.effect(() => {
    const { element: line, open } = rows.value[at.value];
    setAttributes(line, { "aria-current": "true" });
    open.tabIndex = 0;
    // The list begins with its first row, wherever the current head is.
    if (line.isConnected) {
      const scroller = element.closest<HTMLElement>(".body");
      reveal({ scroller, cell: line, below: null, covered: COVERED, first: false });
    }
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
