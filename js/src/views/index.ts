/** The views, by the names that `attnwidget/view_state` lists: a new one gets a folder and a line. */

import type { ViewName } from "../state/choices.ts";
import { grid } from "./grid/spec.ts";
import { head } from "./head/spec.ts";
import { map } from "./map/spec.ts";
import { model } from "./model/spec.ts";
import { neuron } from "./neuron/spec.ts";
import type { ViewSpec } from "./shared/view.ts";
import { text } from "./text/spec.ts";

export const VIEWS: Readonly<Record<ViewName, ViewSpec>> = { head, model, neuron, map, text, grid };
