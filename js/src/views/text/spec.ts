/** The text view in the header, the help and the tour. */

import type { ViewSpec } from "../shared/view.ts";
import { textView } from "./text.ts";

export const text: ViewSpec = {
  name: "text",
  label: "Text",
  ofHeads: true,
  help: {
    "Running text": {
      "← →": "the token before or after, in the answer; with Shift, several",
      "click a token": "lock it; Shift+click: all up to it",
      "click a sentence": "which heads look at it",
      k: "cut the answer's links to it: what the answer loses without it",
      e: "cut each sentence in turn",
      p: "what is selected in the prompt is a part of your own; there, → and Shift+→ select words",
      "drag on an image":
        "a part of these patches; with the keyboard, Shift and arrows, then Enter",
      v: "the next weighting of the menu",
      Esc: "release the sentence, then the token",
    },
  },
  tour: ({ state }) =>
    state.shown.stack.peek().text
      ? [
          {
            title: "Read where it looks",
            text: "Each token of the answer was written from the words that are shaded; the list has the sentences with the largest shares.",
            choices: { view: "text" },
            about: [".text-view .parts"],
          },
        ]
      : [],
  mount: textView,
};
