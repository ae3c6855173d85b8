/** The model view: a thumbnail of every head of every layer. */

import { batch, computed, signal, untracked } from "@preact/signals-core";
import type { Head } from "../../data/manifest.ts";
import { choice, optionsOf, toggle } from "../../parts/choice.ts";
import { el, replaceContent } from "../../parts/dom.ts";
import { keptAsWeights } from "../../parts/fidelity.ts";
import { remarks } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { PAIR } from "../../state/choices.ts";
import { goTo, openHead } from "../../state/navigation.ts";
import { toggleOff } from "../../state/off.ts";
import type { State } from "../../state/state.ts";
import { coloringOf } from "../shared/all-heads/color.ts";
import { colorMenu, metricOptions, orFirst } from "../shared/all-heads/menus.ts";
import { allHeads, placeOf, rowsOf, sameHead } from "../shared/all-heads/order.ts";
import { described } from "../shared/all-heads/patterns.ts";
import {
  headsTable,
  headTitle,
  metricTable,
  ordered,
  sampledText,
  statusOf,
} from "../shared/all-heads/status.ts";
import { paintThumbnail, segmentsText, thumbnailsOf } from "../shared/all-heads/thumbnail.ts";
import { scaleLegend } from "../shared/heads/difference.ts";
import { computedThumbnails, picturedLens, picturesText, weighting } from "../shared/lenses.ts";
import type { Context, View } from "../shared/view.ts";
import { figureName } from "../shared/view.ts";
import { modelGrid, reveal, rowPaint } from "./grid.ts";
import { bindGridKeys, bindPointer } from "./keys.ts";
import { modelLayout } from "./layout.ts";
import { pairOrder } from "./pair.ts";
import { modelPanel, type Panel } from "./panel.ts";
import { showPreview } from "./preview.ts";
import { ranking } from "./ranking.ts";
import { meansOf } from "./summary.ts";

export function modelView(context: Context): View {
  const { scope, state, store, palette } = context;
  const { manifest } = store;
  const { stack, metrics } = state.shown;
  const metricOf = (name: string) => metrics.value.find((metric) => metric.name === name) ?? null;
  // A metric that this stack does not have counts as not chosen.
  const pair = pairOrder(state, store);
  const sort = computed(() => pair.value.metric ?? metricOf(state.sort.value));
  const color = computed(
    () => metricOf(state.color.value) ?? (state.color.value === "layer" ? "layer" : "pattern"),
  );
  /** The metric that is written: the one that colours heads, or sorts them, or the first. */
  const metric = computed(() => metricOf(state.color.value) ?? sort.value ?? metrics.value[0]);
  const rows = computed(() =>
    rowsOf(stack.value, sort.value, {
      layers: state.include_layers.value,
      heads: state.include_heads.value,
    }),
  );
  const coloring = computed(() =>
    coloringOf(color.value, rows.value, stack.value, manifest, palette.value),
  );

  const panel = signal<Panel | null>(null);
  const hovered = signal<Head | null>(null);
  /** True while the keyboard moves through the heads, which enlarges the current one. */
  const byKeyboard = signal(false);
  const current = computed<Head>(() => ({
    layer: state.shown.layer.value,
    head: state.shown.head.value,
  }));
  const focused = computed(() => hovered.value ?? current.value);
  const enlarged = computed(() => {
    const shown = hovered.value ?? (byKeyboard.value ? current.value : null);
    // The opened head needs no preview.
    return state.opened.value && sameHead(shown, current.value) ? null : shown;
  });

  const lens = weighting(scope, state, store, "model");
  const pictured = computed(() => picturedLens(state, store));
  const computedHere = computed(() => computedThumbnails(state, store));
  const tools = modelTools(scope, state, lens.control);
  const element = el("div", { class: "model-view" });
  scope.scopedEffect((own) => {
    const width = context.width.value;
    if (width <= 0) return;
    const stage = state.ranking.value ? listed(own, width) : build(own, width);
    untracked(() => {
      hovered.value = null;
      replaceContent(element, stage);
    });
  });

  const goToHead = ({ layer, head }: Head) => goTo(state, { layer: layer.number, head });

  const enter = ({ layer, head }: Head) => openHead(state, layer.number, head);

  /** List the heads in place of the grid. Runs again when a signal that is read here changes. */
  function listed(own: Scope, width: number): HTMLElement {
    // The grid may have been scrolled to the current head.
    element.closest(".body")?.scrollTo(0, 0);
    return ranking(own, {
      heads: allHeads(rows.value),
      metrics: metrics.value,
      by: sort.value ?? metric.value,
      patterns: manifest.patterns,
      coloring,
      current,
      width,
      rankBy({ name }) {
        state.sort.value = name;
      },
      choose: goToHead,
      enter,
    });
  }

  /** Build the grid. Runs again when a signal that is read here changes. */
  function build(scope: Scope, width: number): HTMLElement {
    const [shown, shownStack] = [rows.value, stack.value];
    const kind = state.thumbnails.value;
    const { aspect, thumbnailOf } = thumbnailsOf(
      store,
      shownStack,
      state.segments.value,
      kind,
      pictured.value,
      computedHere.value,
    );
    const layout = modelLayout(width, aspect, shown, sort.value !== null);
    const grid = modelGrid(shown, manifest, layout, sort.value, meansOf(shown, metric.value));
    const preview = el("div", { class: "preview", hidden: true, "aria-hidden": "true" });
    const stage = el("div", { class: "grid-stage" }, grid.element, preview);
    stage.style.width = `${layout.width}px`;
    const margin = Math.max(0, Math.floor((width - layout.width) / 2));
    stage.style.marginLeft = `${margin}px`;
    const scroller = () => element.closest<HTMLElement>(".body");
    let openedBefore = false;
    let revealed = false;

    const toggle = (head: Head) => {
      const isOpen = state.opened.peek() && sameHead(head, current.peek());
      batch(() => {
        goToHead(head);
        state.opened.value = !isOpen;
      });
    };
    const close = () => {
      state.opened.value = false;
      grid.element.focus();
    };
    bindPointer(stage, grid, {
      hover(head) {
        if (!sameHead(head, hovered.peek())) hovered.value = head;
      },
      switchOff: ({ layer, head }) => toggleOff(state, layer.number, head),
      click(head) {
        byKeyboard.value = false;
        openedBefore = state.opened.peek();
        toggle(head);
      },
      doubleClick(head) {
        state.opened.value = openedBefore;
        enter(head);
      },
    });
    grid.element.addEventListener("blur", () => {
      byKeyboard.value = false;
    });
    bindGridKeys(stage, grid, shown, {
      current: () => current.peek(),
      move(to) {
        batch(() => {
          hovered.value = null;
          byKeyboard.value = true;
          goToHead(to);
        });
      },
      enter: () => enter(current.peek()),
      toggle: () => toggle(current.peek()),
      escape() {
        byKeyboard.value = false;
        if (!panel.peek()) return false;
        close();
        return true;
      },
    });

    /** Make space for the panel below the row of the current head, and scroll to both. */
    const arrange = () => {
      const at = placeOf(shown, current.peek());
      const openedPanel = panel.peek();
      if (openedPanel && at) grid.setGap(at.row, openedPanel.element.offsetHeight + PANEL_MARGIN);
      else grid.setGap(null, 0);
      if (!at) return;
      const { left, top, across, gap, rowPitch } = layout;
      const notch = margin + left + (at.column + 0.5) * (across + gap);
      openedPanel?.place(top + (at.row + 1) * rowPitch + PANEL_MARGIN / 2, notch);
      const cell = grid.cell(at.row, at.column);
      const covered = { left, top };
      // Another grid may have replaced this one since the last frame.
      if (!cell?.isConnected) return;
      reveal({
        scroller: scroller(),
        cell,
        below: openedPanel?.element ?? null,
        covered,
        first: !revealed,
      });
      revealed = true;
    };
    const opened = computed(() => state.opened.value && placeOf(shown, current.value) !== null);

    scope.effect(() => {
      // Rows are painted later, when nothing is watched.
      computedHere.value?.value;
      const painting = {
        layout,
        kind,
        coloring: coloring.value,
        palette: palette.value,
        thumbnailOf,
      };
      return grid.fill(shown.map((row) => rowPaint(painting, row)));
    });
    scope.effect(() => grid.markOff(state.off.value));
    scope.scopedEffect((own) => {
      if (!opened.value) return;
      const newPanel = untracked(() =>
        modelPanel({
          context: { ...context, scope: own },
          width,
          resized: arrange,
          close,
          enter: () => enter(current.peek()),
        }),
      );
      newPanel.element.style.left = `${-margin}px`;
      newPanel.element.style.setProperty("--top", `${layout.top}px`);
      newPanel.element.style.width = `${Math.max(width, layout.width)}px`;
      stage.append(newPanel.element);
      panel.value = newPanel;
      own.onEnd(() => {
        newPanel.element.remove();
        panel.value = null;
      });
    });
    scope.effect(() => {
      const at = placeOf(shown, current.value);
      opened.value;
      const cell = at && grid.cell(at.row, at.column);
      if (!cell) {
        grid.element.removeAttribute("aria-activedescendant");
        arrange();
        return;
      }
      cell.setAttribute("aria-selected", "true");
      grid.element.setAttribute("aria-activedescendant", cell.id);
      // In the first run, wait until the grid is in the page.
      if (cell.isConnected) arrange();
      else queueMicrotask(arrange);
      return () => cell.setAttribute("aria-selected", "false");
    });
    scope.effect(() => {
      const head = enlarged.value;
      // The head is missing for a moment when the stack changes, until this grid is replaced.
      const at = head && placeOf(shown, head);
      const cell = at && grid.cell(at.row, at.column);
      // A narrow view has no preview; the status line shows the numbers.
      preview.hidden = !cell || layout.fit === "hidden";
      if (!head || !cell || preview.hidden) return;
      const colors = palette.value;
      const thumbnail = thumbnailOf(head);
      const ink = coloring.value.colorOf(head);
      showPreview(preview, {
        title: headTitle(head),
        pattern: described(manifest.patterns, head),
        aspect,
        paint: (painter, ratio, box) =>
          paintThumbnail(painter, ratio, kind, thumbnail, box, ink, colors),
        numbers: metricTable(ordered(metric.peek(), metrics.peek()), head),
        cell,
        scroller: scroller() ?? stage,
      });
    });
    return stage;
  }

  return {
    element,
    status: computed(() =>
      // The status of the opened head while a token in it is hovered.
      panel.value && state.hover.value
        ? panel.value.content.status.value
        : statusOf(focused.value, manifest.patterns, ordered(metric.value, metrics.value)),
    ),
    legend: computed(() => [
      ...coloring.value.legend,
      ...scaleLegend(stack.value, pictured.value, palette.value, computedHere.value !== null),
      ...remarks(
        pair.value.remark,
        keptAsWeights(rows.value.map(({ layer }) => layer)),
        picturesText(
          rows.value.map(({ layer }) => layer),
          pictured.value,
          ({ number }) => store.stack(stack.value.name).hasThumbnail(number, pictured.value),
          computedHere.value?.value,
        ),
        sampledText(stack.value, manifest),
        segmentsText(store, stack.value, state.segments.value),
      ),
      ...(panel.value?.content.legend.value ?? []),
    ]),
    tools,
    keys: { v: lens.next },
    // Thumbnails show no tokens.
    finds: computed(() => (state.opened.value ? "tokens" : null)),
    head: () => focused.peek(),
    figure: () => ({
      name: figureName(manifest, "model", stack.peek()),
      heading: "",
      note: manifest.model,
      cropped: false,
    }),
    tables: computed(() => [
      headsTable(
        rows.value,
        manifest,
        [...metrics.value, pair.value.metric].filter((m) => m !== null),
      ),
      ...(panel.value?.content.tables.value ?? []),
    ]),
  };
}

/** The space between a row and its panel, and below the panel, in CSS pixels. */
const PANEL_MARGIN = 16;

const THUMBNAILS = { matrix: "Matrix", lines: "Lines" };

/** @param lens the control of the weighting */
function modelTools(scope: Scope, state: State, lens: HTMLElement): HTMLElement[] {
  const orders = () => [
    { value: "model", label: "As in model" },
    { value: PAIR, label: "Weight of locked pair", title: "Of the locked query and key" },
    ...metricOptions(state),
  ];
  return [
    colorMenu(scope, state),
    choice(scope, "Sort heads", orders, orFirst(state.sort, orders)),
    choice(scope, "Show", optionsOf<"thumbnails">(THUMBNAILS), state.thumbnails),
    lens,
    toggle(scope, "Ranking", "List the heads of all layers by their numbers", state.ranking),
  ];
}
