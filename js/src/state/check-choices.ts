/** Checks of the choices: a page or a saved notebook may hold anything in their place. */

import { type Check, flag, integer, list, oneOf, orNull, text } from "../data/check.ts";
import { type Choices, VIEWS } from "./choices.ts";

/** No list of heads, layers, tokens or neurons is longer. */
const MOST = 2 ** 20;

const index = integer(0);
const several = list(index, integer(0, MOST));

/** Checked by type alone: the code that uses a choice sees if this record has it. */
export const CHECKS: Readonly<Record<keyof Choices, Check>> = {
  view: oneOf(VIEWS),
  stack: text(),
  layer: index,
  head: index,
  heads: orNull(several),
  query: orNull(index),
  key: orNull(index),
  also: several,
  segments: oneOf(["all", "aa", "ab", "ba", "bb"]),
  combine: oneOf(["none", "mean", "max", "layers_mean", "layers_max"]),
  words: flag,
  orientation: oneOf(["vertical", "horizontal"]),
  thumbnails: oneOf(["matrix", "lines"]),
  sort: text(1),
  color: text(1),
  opened: flag,
  include_layers: orNull(several),
  include_heads: orNull(several),
  neurons: oneOf(["model", "pair", "sum"]),
  muted: several,
  expanded: flag,
  theme: oneOf(["auto", "light", "dark"]),
};
