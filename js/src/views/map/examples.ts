/** The texts in which a number of the head that is looked at is highest, usual, or lowest. */

import { computed, signal } from "@preact/signals-core";
import type { Examples } from "../../data/manifest.ts";
import { choice } from "../../parts/choice.ts";
import { button, el } from "../../parts/dom.ts";
import { capitalized, counted, number } from "../../parts/text.ts";
import { inFull, reasonsOf } from "../shared/all-heads/words.ts";
import { metricOptions, shownAs } from "../shared/tools.ts";
import type { Looked, Part } from "./heads.ts";

const KINDS = ["highest", "median", "lowest"] as const;
const RANKS = ["", "2nd ", "3rd "];

export function exampleList({ context, focused, metrics }: Looked, examples: Examples): Part {
  const { scope, state, store } = context;
  const offered = metrics.filter(({ name }) => examples.metrics.has(name));
  /** "" until the reader chooses: the metric that gives the head its words, if it has examples. */
  const chosen = signal("");
  const metric = computed(() => {
    const rules = reasonsOf(store.manifest.patterns, focused.value).split(" ");
    const ruling = offered.filter(({ name }) => rules.includes(name)).at(-1) ?? offered[0];
    return offered.find(({ name }) => name === chosen.value) ?? ruling;
  });
  const found = computed(() => {
    const { layer, head } = focused.value;
    return (metric.value && examples.metrics.get(metric.value.name)?.get(layer)?.[head]) ?? [];
  });
  const rows = KINDS.map((kind, at) => {
    const [which, value, text] = ["which", "value", "text"].map((name) =>
      el("span", { class: name }),
    );
    const open = button({}, "", () => {
      const example = found.peek()[at];
      if (!example) return;
      const { layer, head } = focused.peek();
      const stack = state.shown.stack.peek().name;
      const [place, , , query] = example;
      state.opening.value = { text: place, stack, layer: layer.number, head, query };
    });
    open.append(which, value, text);
    scope.effect(() => {
      const example = found.value[at];
      const opened = example && state.opening.value?.text === example[0];
      open.disabled = !example;
      open.setAttribute("aria-busy", `${Boolean(opened)}`);
      const rank = `${RANKS[example?.[1] ?? 0]}${kind}`;
      which.textContent = rank;
      const { value: of } = metric;
      value.textContent = example && of ? number(example[2], of.digits) : "";
      text.textContent = example
        ? examples.texts[example[0]]
        : `not among the ${counted(examples.texts.length, "text")} kept here`;
      open.title = example ? `Open this text in the head view: ${text.textContent}` : "";
      const inWords = example && of ? `, ${inFull(of, example[2])}` : "";
      open.setAttribute("aria-label", `${capitalized(rank)}${inWords}: ${text.textContent}`);
    });
    return el("li", {}, open);
  });
  const count = ` of ${counted(examples.count, "text")} `;
  const by = shownAs(chosen, () => metric.value?.name ?? "");
  const menu = choice(scope, "by", metricOptions(offered), by);
  return [[count, menu], el("ul", { role: "list", "aria-label": "Examples" }, ...rows)];
}
