/** The model view in the header, the help and the tour. */

import { metricValue } from "../../data/manifest.ts";
import { number } from "../../parts/text.ts";
import type { Step, Subject } from "../../parts/tour.ts";
import { allHeads, rowsOf } from "../shared/all-heads/heads.ts";
import type { ViewSpec } from "../shared/view.ts";
import { modelView } from "./model.ts";

export const model: ViewSpec = {
  name: "model",
  label: "Model",
  ofHeads: true,
  help: {
    "Model view": {
      v: "thumbnails of the next weighting of the menu",
      click: "open a head in its place (also Space)",
      "↑ ↓": "the next head, while the ranking has the focus; Enter opens it",
    },
  },
  tour,
  mount: modelView,
};

function tour({ state, manifest }: Subject): readonly Step[] {
  const layer = state.shown.layer.peek();
  const pattern = manifest.patterns.kinds.length ? " Its colour is its pattern." : "";
  const [metric = manifest.metrics[0]] = state.shown.metrics.peek();
  const rows = rowsOf(state.shown.stack.peek(), metric);
  const [head] = rows.find((row) => row.layer === layer)?.heads ?? [0];
  const most = metricValue(metric, { layer, head }) ?? Number.NEGATIVE_INFINITY;
  const value = `${number(most, metric.digits)} ${metric.unit}`.trim();
  return [
    {
      title: "Open the model view",
      text: `Here are all ${allHeads(rows).length} heads in ${rows.length} layers, and a click opens one.${pattern}`,
      choices: { view: "model", opened: false, sort: "model" },
      about: ["[role=gridcell][aria-selected=true]", "[role=grid]"],
    },
    {
      title: "Sort the heads",
      text: `By ${metric.label}, head ${head} comes first in layer ${layer.number}, with ${value}.`,
      choices: { view: "model", opened: false, sort: metric.name },
      about: [".control:has([aria-label='Sort heads'])", "[aria-label=Options]"],
      said: false,
    },
  ];
}
