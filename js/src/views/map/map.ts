/** The map: every head as a point, placed by two metrics, or by similarity. */

import { batch, computed, signal, untracked } from "@preact/signals-core";
import { type Head, layerOf, type Metric } from "../../data/manifest.ts";
import { paintCanvas } from "../../painting/canvas.ts";
import { el, replaceContent } from "../../parts/dom.ts";
import { hint, remarks } from "../../parts/text.ts";
import { perFrame } from "../../scheduling/frame.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { goTo, openHead } from "../../state/navigation.ts";
import { toggleOff } from "../../state/off.ts";
import { coloringOf } from "../shared/all-heads/color.ts";
import { nullRange, sideOf } from "../shared/all-heads/null.ts";
import { allHeads, rowsOf, sameHead } from "../shared/all-heads/order.ts";
import { headsTable, ordered, sampledText, statusOf } from "../shared/all-heads/status.ts";
import { segmentsText } from "../shared/all-heads/thumbnail.ts";
import type { Context, View } from "../shared/view.ts";
import { figureName } from "../shared/view.ts";
import { MOST_SIMILAR, mapDetail } from "./detail.ts";
import { bindMapKeys, bindMapPointer, pointNear, pointsWithin } from "./input.ts";
import { notableLabels, shortName } from "./labels.ts";
import { type Frame, mapLayout, type Point, type Ranges } from "./layout.ts";
import { mapOptions } from "./options.ts";
import { paintMap, paintOverlay } from "./paint.ts";
import { placingOf, similarityOf } from "./placing.ts";
import { mapTools } from "./tools.ts";

/** The least width for the detail beside the points, and the share of the points there. */
const WIDE_FROM = 820;
const SHARE = 0.57;
const GAP = 40;
/** The bounds of the height of the points, and their share of the width where that is narrow. */
const HEIGHTS = [320, 660] as const;
const NARROW = 0.8;

export function mapView(context: Context): View {
  const { scope, state, store, palette } = context;
  const { manifest } = store;
  const { patterns } = manifest;
  const { stack, metrics } = state.shown;
  const metricOf = (name: string) => metrics.value.find((metric) => metric.name === name) ?? null;
  const similarity = computed(() => similarityOf(state.similarity.value, stack.value));
  const placing = computed(() =>
    placingOf(metrics.value, state.map_x.value, state.map_y.value, similarity.value),
  );
  const size = computed(() => metricOf(state.map_size.value));
  const colorMetric = computed(() => metricOf(state.color.value));
  const rows = computed(() => rowsOf(stack.value, null, { layers: null, heads: null }));
  const heads = computed(() => allHeads(rows.value));
  const coloring = computed(() => {
    const color = colorMetric.value ?? (state.color.value === "layer" ? "layer" : "pattern");
    return coloringOf(color, rows.value, stack.value, manifest, palette.value);
  });
  const colorOf = computed(() => coloring.value.colorOf);
  /** The metrics that the map shows. */
  const inUse = computed<readonly Metric[]>(() => {
    const chosen = [...(placing.value.axes ?? []), size.value, colorMetric.value];
    const used = new Set(chosen.filter((metric) => metric !== null));
    return used.size ? [...used] : metrics.value.slice(0, 2);
  });
  const ranges = computed(
    () => new Map(metrics.value.map((metric) => [metric, nullRange(metric, heads.value)])),
  );
  const rangeOf = (metric: Metric) => ranges.value.get(metric) ?? null;
  /** The metrics in which a head lies outside of the null, in words; "" for none. */
  const outsideOf = (head: Head) => {
    const outside = inUse.value.flatMap((metric) => {
      const side = sideOf(metric, head, rangeOf(metric));
      return side ? [{ metric, said: `${metric.label} (${side})` }] : [];
    });
    if (!outside.length) return "";
    return `outside ${outside[0].metric.null?.label} in ${outside.map(({ said }) => said).join(", ")}`;
  };

  /** The head under the pointer, or the one that the keyboard has moved to. */
  const hovered = signal<Head | null>(null);
  const lookAt = (head: Head | null) => {
    if (!sameHead(head, hovered.peek())) hovered.value = head;
  };
  const current = computed<Head>(() => ({
    layer: state.shown.layer.value,
    head: state.shown.head.value,
  }));
  const focused = computed(() => hovered.value ?? current.value);
  /** The short names of the heads that the reader has marked; null for none. */
  const marked = signal<ReadonlySet<string> | null>(null);
  const brush = signal<Frame | null>(null);

  const choose = ({ layer, head }: Head) => goTo(state, { layer: layer.number, head });
  const enter = ({ layer, head }: Head) => openHead(state, layer.number, head);

  scope.effect(() => {
    stack.value;
    // Heads of another stack.
    batch(() => {
      hovered.value = null;
      marked.value = null;
    });
  });

  const element = el("div", { class: "map-view" });
  scope.scopedEffect((own) => {
    const [width, height] = [context.width.value, context.height.value];
    if (width <= 0) return;
    const content = build(own, width, height);
    untracked(() => replaceContent(element, content));
  });

  /** Build the points and the detail. Runs again when a signal that is read here changes. */
  function build(own: Scope, width: number, height: number): HTMLElement {
    const wide = width >= WIDE_FROM;
    const across = wide ? Math.floor(width * SHARE) : width;
    const down = Math.min(Math.max(wide ? height : width * NARROW, HEIGHTS[0]), HEIGHTS[1]);
    const { axes, nullLabel } = placing.value;
    const withNull = state.nullShown.value && nullLabel !== null;
    const ofNull: Ranges = axes && withNull ? [rangeOf(axes[0]), rangeOf(axes[1])] : [null, null];
    const near = similarity.value;
    const layout = mapLayout(across, down, {
      heads: heads.value,
      placing: placing.value,
      ranges: ofNull,
      size: size.value,
      withNull,
      linked: near !== null,
    });
    const points = new Map(layout.points.map((point) => [shortName(point.head), point]));
    const pointOf = (head: Head) => points.get(shortName(head)) ?? null;
    const shownStack = stack.value;
    // Another stack replaces all of this, but its heads may come first.
    let last = focused.peek();
    const lookedAt = computed(() => {
      if (shownStack.layers.includes(focused.value.layer)) last = focused.value;
      return last;
    });
    const base = el("canvas", { "aria-hidden": "true" });
    const above = el("canvas", { class: "overlay", "aria-hidden": "true" });
    const options = mapOptions(layout.points, patterns, inUse.value, outsideOf);
    const list = el(
      "div",
      { role: "listbox", "aria-label": "Heads", tabindex: 0 },
      base,
      above,
      options.element,
    );
    list.style.width = `${across}px`;
    list.style.height = `${down}px`;
    const detail = mapDetail(
      own,
      {
        context,
        focused: lookedAt,
        metrics: inUse.value.reduceRight((all, metric) => ordered(metric, all), metrics.value),
        ranges: ranges.value,
        nullLabel: metrics.value.find((metric) => metric.null)?.null?.label ?? "",
        similarity: near,
        colorOf,
      },
      wide ? width - across - GAP : width,
    );
    const labels = notableLabels(layout);

    own.effect(() => {
      const names = marked.value;
      const colors = palette.value;
      paintCanvas(base, across, down, (painter) =>
        paintMap(painter, {
          layout,
          titles: axes && [axisTitle(axes[0]), axisTitle(axes[1])],
          ranges: ofNull,
          nullLabel: withNull ? nullLabel : null,
          note: near ? similarityNote(near.label, near.kept) : "",
          size: size.peek(),
          linked: near !== null,
          labels,
          palette: colors,
          colorOf: colorOf.value,
          isFaded: (head) => names !== null && !names.has(shortName(head)),
        }),
      );
    });
    own.effect(() => {
      const { layer, head } = lookedAt.value;
      const nearest = (near?.nearest.get(layer)?.[head] ?? [])
        .slice(0, MOST_SIMILAR)
        .map(([number, other]) => pointOf({ layer: layerOf(shownStack, number), head: other }))
        .filter((point) => point !== null);
      paintCanvas(above, across, down, (painter) =>
        paintOverlay(painter, {
          layout,
          chosen: pointOf(current.value),
          focused: pointOf(lookedAt.value),
          nearest,
          off: state.off.value
            .map(([number, head]) => pointOf({ layer: layerOf(shownStack, number), head }))
            .filter((point) => point !== null),
          labels,
          brush: brush.value,
          palette: palette.value,
          colorOf: colorOf.value,
        }),
      );
    });
    own.effect(() => {
      const option = options.of(current.value);
      option?.setAttribute("aria-selected", "true");
      return () => option?.setAttribute("aria-selected", "false");
    });
    own.effect(() => {
      const off = state.off.value
        .map(([number, head]) => options.of({ layer: layerOf(shownStack, number), head }))
        .filter((option) => option !== undefined);
      for (const option of off) option.setAttribute("aria-description", "switched off");
      return () => {
        for (const option of off) option.removeAttribute("aria-description");
      };
    });
    own.effect(() => {
      const option = options.of(focused.value);
      if (option) list.setAttribute("aria-activedescendant", option.id);
      else list.removeAttribute("aria-activedescendant");
    });

    const markWithin = perFrame((box: Frame) => {
      brush.value = box;
      const inside = pointsWithin(layout.points, box);
      marked.value = inside.length ? new Set(inside.map(({ head }) => shortName(head))) : null;
    });
    own.onEnd(markWithin.cancel);
    bindMapPointer(list, base, {
      at: (x, y) => pointNear(layout.points, x, y),
      hover: (point) => lookAt(point?.head ?? null),
      click(point) {
        if (point) choose(point.head);
        else marked.value = null;
      },
      switchOff: ({ head }) => toggleOff(state, head.layer.number, head.head),
      doubleClick: (point) => enter(point.head),
      brush(box) {
        if (box) markWithin(box);
        else {
          markWithin.cancel();
          brush.value = null;
        }
      },
    });
    const inOrder = heads.value.map(pointOf).filter((point) => point !== null);
    bindMapKeys(list, {
      points: () => inOrder,
      current: () => pointOf(focused.peek()),
      move: (to: Point) => lookAt(to.head),
      enter() {
        const head = focused.peek();
        if (sameHead(head, current.peek())) enter(head);
        else choose(head);
      },
      escape() {
        const any = marked.peek() !== null || hovered.peek() !== null;
        batch(() => {
          marked.value = null;
          lookAt(null);
        });
        return any;
      },
    });
    return el("div", { class: `map-stage ${wide ? "wide" : ""}` }, list, detail);
  }

  return {
    element,
    tools: mapTools(scope, { state, placing, size, similarity }),
    head: () => focused.peek(),
    finds: signal("heads"),
    keys: {
      r() {
        if (placing.peek().nullLabel) state.nullShown.value = !state.nullShown.peek();
      },
    },
    status: computed(() => {
      const outside = outsideOf(focused.value);
      return [
        ...statusOf(focused.value, patterns, inUse.value),
        outside && ` (${outside})`,
        hint(
          sameHead(focused.value, current.value) ? " · Enter opens" : " · a click or Enter chooses",
        ),
      ];
    }),
    legend: computed(() => [
      ...coloring.value.legend,
      ...remarks(
        marked.value && `${marked.value.size} heads marked, Esc releases them`,
        sampledText(stack.value, manifest),
        segmentsText(store, stack.value, state.segments.value),
        missing(heads.value.filter((head) => !placing.value.placeOf(head)).length),
        outsideCounts(placing.value.axes ?? []),
      ),
    ]),
    figure: () => ({
      name: figureName(manifest, "map", stack.peek()),
      heading: "",
      note: manifest.model,
      cropped: false,
    }),
    tables: computed(() => [headsTable(rows.value, manifest, metrics.value)]),
  };

  /** "outside random weights, of 72 heads: 3 above, 18 below by entropy"; "" without a null. */
  function outsideCounts(of: readonly Metric[]): string {
    const counts = of.flatMap((metric) => {
      const range = rangeOf(metric);
      if (!range) return [];
      const sides = heads.value.map((head) => sideOf(metric, head, range));
      const [above, below] = (["above", "below"] as const).map(
        (side) => sides.filter((each) => each === side).length,
      );
      return [`${above} above, ${below} below by ${metric.label}`];
    });
    if (!counts.length) return "";
    const which = `outside ${placing.value.nullLabel}, of ${heads.value.length} heads`;
    return `${which}: ${counts.join("; ")}`;
  }
}

const missing = (count: number) =>
  count ? `${count} ${count > 1 ? "heads have" : "head has"} no value` : "";

const axisTitle = ({ label, unit, directions }: Metric) => {
  const ends = directions ? ` (← ${directions[0]}, ${directions[1]} →)` : "";
  return `${label}${unit && `, ${unit}`}${ends}`;
};

const similarityNote = (label: string, kept: number | null) =>
  `near each other: alike by ${label}` +
  (kept === null ? "" : ` · two dimensions keep ${Math.round(100 * kept)}%`);
