/** A view alone on the page, without the app around it. */

import { signal } from "@preact/signals-core";
import type { Store } from "../../src/data/store.ts";
import type { Phrase } from "../../src/parts/text.ts";
import type { State } from "../../src/state/state.ts";
import { palette } from "../../src/styles/palette.ts";
import { VIEWS } from "../../src/views/index.ts";
import type { View } from "../../src/views/shared/view.ts";
import { place } from "./place.ts";
import { testScope } from "./test-scope.ts";

/** Mount the view of the state, in a light palette. */
export function mountView(state: State, store: Store, width = 1000): View {
  const view = VIEWS[state.view.peek()].mount({
    scope: testScope(),
    state,
    store,
    palette: signal(palette(false)),
    width: signal(width),
    height: signal(800),
    onPaper: signal(false),
  });
  place(view.element);
  return view;
}

/** A phrase as text. */
export const textOf = (phrase: Phrase): string =>
  phrase.map((part) => (typeof part === "string" ? part : part.text)).join("");
