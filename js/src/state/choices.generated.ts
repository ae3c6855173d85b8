// Written by scripts/choices.py from attnwidget/view_state/table.py.

import { flag, index, indices, links, oneOf, pairs, segments, text } from "./kinds.ts";

export const SCHEMA = {
  view: oneOf("head", "model", "neuron", "map", "text", "grid"),
  stack: text(""),
  compared: oneOf("a", "b", "difference"),
  layer: index(0),
  head: index(0),
  heads: indices(null),
  query: index(null),
  key: index(null),
  also: indices([]),
  named_segments: segments([]),
  segments: text("all"),
  combine: oneOf("none", "mean", "max", "layers_mean", "layers_max"),
  lens: text("attention"),
  words: flag(false),
  arcs_shown: flag(true),
  orientation: oneOf("vertical", "horizontal"),
  picture: flag(true),
  grid: index(null),
  thumbnails: oneOf("matrix", "lines", "image"),
  sort: text("model"),
  color: text("pattern"),
  opened: flag(false),
  ranking: flag(false),
  include_layers: indices(null),
  include_heads: indices(null),
  neurons: oneOf("model", "pair", "sum"),
  muted: indices([]),
  off: pairs([]),
  cut: links([]),
  expanded: flag(true),
  parts: oneOf("sentences", "paragraphs", "messages", "named"),
  part: index(null),
  cut_part: index(null),
  map_x: text("distance"),
  map_y: text("entropy"),
  map_size: text("none"),
  shown_grid: index(0),
  theme: oneOf("auto", "light", "dark"),
};

export const PAIR = "pair";
export const SIMILARITY = "similarity";
export const NO_SIZE = "none";
