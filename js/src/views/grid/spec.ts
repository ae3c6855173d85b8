/** The view of grids in the header, the help and the tour. */

import type { ViewSpec } from "../shared/view.ts";
import { gridView } from "./grid.ts";

export const grid: ViewSpec = {
  name: "grid",
  label: "Grid",
  ofHeads: true,
  help: {
    "Grid view": {
      "↑ ↓ ← →": "the next cell; Enter chooses its layer and token or head, and again opens it",
      n: "the numbers of the null in place of those measured",
    },
  },
  tour: () => [
    {
      title: "Open the grid",
      text: "Each cell is the number of a layer and a token, or of a head, as the line above says.",
      choices: { view: "grid" },
      about: [".cells"],
    },
  ],
  mount: gridView,
};
