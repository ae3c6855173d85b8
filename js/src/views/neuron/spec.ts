/** The neuron view in the header, the help and the tour. */

import type { ViewSpec } from "../shared/view.ts";
import { neuronView } from "./neuron.ts";

export const neuron: ViewSpec = {
  name: "neuron",
  label: "Neuron",
  ofHeads: false,
  help: {
    "Neuron view": {
      "j Shift+J": "the strongest keys of the query, one after the other",
      "click q × k":
        "mute a neuron, the strongest of narrow ones; drag for several; again restores",
      "Shift+click": "compare a second query with the first (also Shift+Enter)",
      "Enter, Shift+← →": "on neurons: mute one, or several; Esc restores",
    },
  },
  tour: ({ locked }) => [
    {
      title: "Open the neuron view",
      text: "It shows how a weight comes about: query times key, neuron by neuron, then the softmax.",
      choices: { ...locked, view: "neuron" },
      about: [".neuron-list", ".neurons"],
    },
  ],
  mount: neuronView,
};
