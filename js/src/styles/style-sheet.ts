/** The style of everything inside the shadow root. Colours come from the palette. */

import { ADAPT } from "./css/adapt.ts";
import { FIGURE } from "./css/figure.ts";
import { FRAME } from "./css/frame.ts";
import { HEAD } from "./css/head.ts";
import { MODEL } from "./css/model.ts";
import { NEURON } from "./css/neuron.ts";
import { PARTS } from "./css/parts.ts";

/** Rules that adapt to a place come last, since they change those before. */
const CSS = [FRAME, PARTS, HEAD, NEURON, MODEL, ADAPT, FIGURE].join("");

/** The padding of ".body" in css/frame.ts, in CSS pixels. */
export const BODY_PADDING = { x: 20, y: 16 };

let sheet: CSSStyleSheet | undefined;

/** One sheet for every view of the page. */
export function styleSheet(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  return sheet;
}
