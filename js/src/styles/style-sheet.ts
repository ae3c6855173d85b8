/** The style sheet of the shadow roots. Its colours are variables, set from the palette. */

import { oncePerPage } from "../basics/once-per-page.ts";
import { ADAPT } from "./css/adapt.ts";
import { EFFECTS } from "./css/effects.ts";
import { FIGURE } from "./css/figure.ts";
import { FRAME } from "./css/frame.ts";
import { GRID } from "./css/grid.ts";
import { HEAD } from "./css/head.ts";
import { MAP } from "./css/map.ts";
import { MODEL } from "./css/model.ts";
import { NEURON } from "./css/neuron.ts";
import { PARTS } from "./css/parts.ts";
import { PICTURE } from "./css/picture.ts";
import { TEXT } from "./css/text.ts";

/** In order: later rules override earlier ones. */
const CSS = [
  FRAME,
  PARTS,
  HEAD,
  NEURON,
  MODEL,
  MAP,
  GRID,
  TEXT,
  PICTURE,
  EFFECTS,
  ADAPT,
  FIGURE,
].join("");

/** The padding of ".body" in css/frame.ts, in CSS pixels. */
export const BODY_PADDING = { x: 20, y: 16 };

/** The style sheet that all views of the page share. */
export const styleSheet = (): CSSStyleSheet =>
  oncePerPage(CSS, () => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
    return sheet;
  });
