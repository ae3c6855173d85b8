/** The column headers of the neuron view, with the formula of the head. */

import { steady } from "../../basics/same.ts";
import type { LayerInfo, Program } from "../../data/manifest.ts";
import { el } from "../../parts/dom.ts";
import { fontOf, scalingSteps, textMeasure } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { Layout } from "./layout.ts";
import type { QueryAnalysis } from "./query-analysis.ts";

export interface ColumnHeader {
  /** The name and shorter forms: the first that fits is shown. */
  readonly name: readonly string[];
  /** The line below the name, with shorter forms; none is shown if none fits. */
  readonly detail?: readonly string[];
  /** The title, if it differs from name and detail. */
  readonly title?: string;
  /** True if the numbers are not the model's own. */
  readonly altered?: boolean;
  readonly left: number;
  readonly width: number;
  /** True to align right, as the labels below. */
  readonly atEnd?: boolean;
}

/** The least space between two headers. */
const GAP = 6;

/** @param long true where only the explained query has curves */
export const columnHeaders = (
  layout: Layout,
  analysis: QueryAnalysis,
  long: boolean,
): readonly ColumnHeader[] => [
  ...(layout.products === null
    ? [curvesHeader(layout, analysis, long)]
    : vectorHeaders(layout, layout.products, analysis)),
  ...barHeaders(layout, analysis),
];

/** The header of the curves, where they stand in place of vectors. */
function curvesHeader(
  { curves: [left, right] }: Layout,
  { data, axes, muted, explanation }: QueryAnalysis,
  long: boolean,
): ColumnHeader {
  const changed = muted.value.length ? ["the model’s own"] : [];
  return {
    name: [data.info.signed ? "Coefficients" : "Attention"],
    detail: long ? [`of ${axes.query.names[explanation.value.query]}`] : changed,
    left,
    width: right - left,
  };
}

/** The headers of the vectors. */
function vectorHeaders(
  layout: Layout,
  products: number,
  analysis: QueryAnalysis,
): readonly ColumnHeader[] {
  const { data, axes, head, muted, decisive, comparison, explanation } = analysis;
  const { info } = data;
  const dim = info.dim as number;
  const vector = info.recurrence ? "p" : "q";
  const { names } = axes.query;
  const second = comparison.value;
  const compared = second
    ? `${names[explanation.value.query]} above, ${names[second.query]} below`
    : "";
  const count = decisive.value?.length;
  const counts =
    count === undefined
      ? []
      : [`▾ ${count} of ${dim} make 80%`, `▾ ${count} of ${dim}`, `▾ ${count}`];
  const mutedCount = muted.value.length;
  return [
    layout.queries === null
      ? { ...omitted("Query", "q"), left: 0, width: layout.labels, atEnd: true }
      : { ...queryHeader(analysis), left: layout.queries, width: layout.strip },
    layout.keys === null
      ? { ...omitted("Key", "k"), left: layout.keyLabels, width: layout.labels }
      : {
          name: ["Key k"],
          detail: sharedKeys(info, head.value),
          left: layout.keys,
          width: products - layout.keys - GAP,
        },
    {
      name: [`${vector} × k`],
      detail: compared ? [compared, "2 queries"] : mutedCount ? [`${mutedCount} muted`] : counts,
      title: [
        `${vector} × k, neuron by neuron. Click or drag to mute neurons.`,
        count === undefined
          ? ""
          : ` ▾: ${decisiveText(count, dim)}${mutedCount ? ", with none muted" : ""}.`,
        compared && ` ${compared}.`,
      ].join(""),
      altered: !second && mutedCount > 0,
      left: products,
      width: (layout.bias ?? layout.scores ?? layout.weights).left - products - GAP,
    },
  ];
}

/** The headers of the bars. */
function barHeaders(
  { bias, scores, weights, width }: Layout,
  { data, head, muted }: QueryAnalysis,
): readonly ColumnHeader[] {
  const { program, recurrence, dim } = data.info;
  const altered = muted.value.length > 0;
  const headers: ColumnHeader[] = [];
  if (bias) {
    headers.push({
      name: ["+ bias"],
      title: "+ bias: what is added to the scaled product of query and key",
      left: bias.left,
      width: bias.end - bias.left,
    });
  }
  if (scores) {
    const [scale, ...steps] = program ? scalingSteps(program, head.value, dim as number) : [""];
    const vector = recurrence ? "p" : "q";
    const name = `${vector}·k ${scale}`.trim();
    const kept = recurrence ? [] : ["scores not recorded"];
    const rules = program ? [...steps, masking(program)] : kept;
    const details = [altered && `${muted.value.length} muted`, ...rules].filter((one) => one);
    headers.push({
      name: [name, `${vector}·k`],
      // Shortened from the end.
      detail: details.map((_, n) => details.slice(0, details.length - n).join(", ")),
      altered,
      left: scores.left,
      width: weights.left - scores.left - GAP,
    });
  }
  const sink = data.sink(head.value) === null ? [] : ["with a sink", "sink"];
  const follows = program || recurrence;
  const changed = follows
    ? ["not the model’s own", "not model’s own", "altered"]
    : ["the model’s own", "own"];
  headers.push({
    name: recurrence ? ["Coefficient", "Coeff."] : ["Softmax"],
    detail: altered ? changed : recurrence ? product(recurrence) : sink,
    altered: altered && Boolean(follows),
    left: weights.left,
    width: width - weights.left,
  });
  return headers;
}

/** The header of the queries, or of the explained one as it is walked back. */
function queryHeader({
  data,
  axes,
  explanation,
}: QueryAnalysis): Pick<ColumnHeader, "name" | "detail" | "title"> {
  if (!data.info.recurrence) return { name: ["Query q"] };
  const name = axes.query.names[explanation.value.query];
  return {
    name: ["q walked back: p", "q walked back", "p"],
    detail: [`from ${name} to each key`, `from ${name}`],
    title: `p: the query of ${name}, walked back to each key through the decay and erasing of the tokens in between`,
  };
}

/** The factors that make a coefficient of p · k. */
const product = ({ write, own }: NonNullable<LayerInfo["recurrence"]>): readonly string[] =>
  write ? [`p·k × write${own ? " + own" : ""}`, "× write"] : own ? ["p·k + own"] : [];

export const decisiveText = (count: number, dim: number) =>
  `${count} of ${dim} neurons ${count === 1 ? "makes" : "make"} 80% of the difference to the other keys`;

/** The mask in words: "" if every query sees all keys. */
function masking({ mask, window, blocks }: Program): string {
  const rule = {
    none: "",
    causal: "causal mask",
    window: window ? `window ${window[0]} back, ${window[1]} ahead` : "",
    explicit: "mask",
  }[mask];
  const blockRule = blocks ? `blocks of ${blocks[0]} × ${blocks[1]}` : "";
  return [rule, blockRule].filter(Boolean).join(", ");
}

/** The header of tokens without space for their vectors. */
const omitted = (name: string, vector: string) => ({
  name: [name],
  title: `${name}: no room for ${vector}`,
});

/** With grouped keys, the other heads that share them, and shorter forms. */
function sharedKeys({ heads, key_heads }: LayerInfo, head: number): readonly string[] {
  const group = heads / key_heads;
  const first = Math.floor(head / group) * group;
  const sharing = Array.from({ length: group }, (_, n) => first + n).filter((at) => at !== head);
  if (!sharing.length) return [];
  const others = `${sharing.length > 1 ? "heads" : "head"} ${sharing.join(", ")}`;
  return [`keys shared with ${others}`, `shared with ${others}`, "shared"];
}

/** The width of the rule beside altered numbers. */
const RULE = 8;

/** The row of column headers. */
export function headerRow(scope: Scope, headers: () => readonly ColumnHeader[]): HTMLElement {
  const measure = { name: textMeasure(fontOf(13)), detail: textMeasure(fontOf(12, 500)) };
  const row = el("div", { class: "column-headers" });
  // Equal ones are kept: a new layout costs time with every move of the pointer.
  const shown = steady(headers);
  scope.effect(() => row.replaceChildren(...shown.value.map(elementOf)));

  function elementOf(header: ColumnHeader): HTMLElement {
    const { name, detail = [], title, altered, left, width, atEnd } = header;
    const full = title ?? [name[0], detail[0]].filter(Boolean).join(", ");
    const shownName = name.find((text) => measure.name(text) <= width) ?? name[name.length - 1];
    const available = width - (altered ? RULE : 0);
    const text = detail.find((text) => measure.detail(text) <= available) ?? "";
    const element = el(
      "div",
      { title: full, class: atEnd && "at-end" },
      el("span", {}, shownName),
      el("span", { class: altered ? "detail altered" : "detail" }, text),
    );
    element.style.left = `${left}px`;
    element.style.width = `${width}px`;
    return element;
  }

  return row;
}
