/** The choices of the reader: the traits of `attnwidget/view_state/choices.py`. */

export const VIEWS = ["head", "model", "neuron"] as const;

export type ViewName = (typeof VIEWS)[number];
export type Segments = "all" | "aa" | "ab" | "ba" | "bb";
/** Single heads, or one matrix made of several: of this layer, or of all layers. */
export type Combine = "none" | "mean" | "max" | "layers_mean" | "layers_max";
export type Orientation = "vertical" | "horizontal";
export type Neurons = "model" | "pair" | "sum";

/** The synchronised choices, by the names that they have in Python. */
export interface Choices {
  view: ViewName;
  stack: string;
  layer: number;
  head: number;
  heads: readonly number[] | null;
  query: number | null;
  key: number | null;
  /** Locked together with the query, or, without one, with the key. */
  also: readonly number[];
  segments: Segments;
  combine: Combine;
  words: boolean;
  orientation: Orientation;
  thumbnails: "matrix" | "lines";
  /** "model", or the name of a metric. */
  sort: string;
  /** "pattern", "layer", or the name of a metric. */
  color: string;
  opened: boolean;
  include_layers: readonly number[] | null;
  include_heads: readonly number[] | null;
  neurons: Neurons;
  muted: readonly number[];
  expanded: boolean;
  theme: "auto" | "light" | "dark";
}

/** @param stack the first one shown. */
export const defaults = (stack: string): Choices => ({
  view: "head",
  stack,
  layer: 0,
  head: 0,
  heads: null,
  query: null,
  key: null,
  also: [],
  segments: "all",
  combine: "none",
  words: false,
  orientation: "vertical",
  thumbnails: "matrix",
  sort: "model",
  color: "pattern",
  opened: false,
  include_layers: null,
  include_heads: null,
  neurons: "model",
  muted: [],
  expanded: true,
  theme: "auto",
});

export const CHOICES = Object.keys(defaults("")) as readonly (keyof Choices)[];
