/** The head view in the header, the help and the tour. */

import { patchesOn } from "../../data/manifest.ts";
import type { Step, Subject } from "../../parts/tour.ts";
import type { ViewSpec } from "../shared/view.ts";
import { headView } from "./head.ts";

export const head: ViewSpec = {
  name: "head",
  label: "Head",
  ofHeads: false,
  help: {
    "Head view": {
      v: "the next weighting of the menu",
      "j Shift+J": "the strongest links of the matrix, one after the other",
      "point at a strip": "look at a token of the whole text; with a query locked, at its weight",
      "press a strip": "go there; drag to go through the text",
      "click a swatch": "show or hide a head",
      "double-click": "this head alone; again, all of them",
      "Shift+click": "all heads from the last one clicked to this one",
    },
    "Image of a vision model": {
      "↑ ↓ ← →": "from patch to patch, while an image has the focus",
      "← → on the small images": "show another image, or crop",
      "Shift+C": "to [CLS], or the first token without a patch",
      "click a map": "show this head",
    },
    "Matrix of a long text": {
      "Ctrl+wheel, pinch": "zoom at the pointer (⌘ on a Mac; also a double-click)",
      drag: "move the part that is shown",
      "+ − 0": "zoom in, out, show all of it, while it has the focus",
      "↑ ↓ ← →": "move the part, while it has the focus",
    },
  },
  tour,
  mount: headView,
};

function tour({ state, manifest, locked }: Subject): readonly Step[] {
  const { number, heads } = state.shown.layer.peek();
  const choices = { ...locked, view: "head", combine: "none", lens: "attention" } as const;
  if (state.picture.peek() && patchesOn(manifest, state.shown.stack.peek(), null)) {
    return [
      {
        title: "Lock a patch",
        text: "A click on a patch locks it: the other image is bright where it attends, and the status line has the largest weights.",
        choices,
        about: [".picture-side"],
      },
      {
        title: "Choose a head",
        text: `Each small image is one of the ${heads} heads of layer ${number}, and a click shows it.`,
        choices,
        about: [".map[aria-pressed=true]"],
      },
    ];
  }
  return [
    {
      title: "Lock a token",
      text: "A click on a token locks it: its lines show what it attends to, and the status line the largest weights.",
      choices,
      about: [".tokens.query [aria-selected=true]", ".tokens.query"],
    },
    {
      title: "Choose a head",
      text: `A double-click on a number shows one of the ${heads} heads of layer ${number} alone.`,
      choices: { ...choices, heads: [state.shown.head.peek()] },
      about: [".swatches .current"],
    },
  ];
}
