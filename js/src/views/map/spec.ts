/** The map in the header, the help and the tour. */

import type { ViewSpec } from "../shared/view.ts";
import { mapView } from "./map.ts";

export const map: ViewSpec = {
  name: "map",
  label: "Map",
  ofHeads: true,
  help: {
    Map: {
      "↑ ↓ ← →": "the nearest head in that direction; Enter chooses it, and again opens it",
      "/": "find a head, as 2-9",
      r: "show or hide the heads of the null, as random weights",
      "Shift+drag": "mark heads; the others fade; Esc releases them",
    },
  },
  tour: ({ state }) => {
    const { layers } = state.shown.stack.peek();
    const heads = layers.reduce((sum, layer) => sum + layer.heads, 0);
    return [
      {
        title: "Open the map",
        text: `Each of the ${heads} heads is a point, and a click shows it beside them; the menus choose what places, colours and sizes them.`,
        choices: { view: "map" },
        about: [".map-stage"],
      },
    ];
  },
  mount: mapView,
};
