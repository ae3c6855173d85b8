/** The style of everything inside the shadow root. Colours come from the palette. */

import { ADAPT } from "./styles/adapt.ts";
import { FRAME } from "./styles/frame.ts";
import { HEAD } from "./styles/head.ts";
import { MODEL } from "./styles/model.ts";
import { NEURON } from "./styles/neuron.ts";
import { PARTS } from "./styles/parts.ts";

/** What adapts to a place comes last, since it changes what stands before. */
const CSS = [FRAME, PARTS, HEAD, NEURON, MODEL, ADAPT].join("");

let sheet: CSSStyleSheet | undefined;

/** One sheet for every view of the page. */
export function styleSheet(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  return sheet;
}
