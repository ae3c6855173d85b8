/** The manifest, as `attnwidget/wire/manifest.py` writes it. */

export type Side = "query" | "key";

/** The places of tokens on the record's image, which is cut into a grid. */
export interface Patches {
  readonly rows: number;
  readonly columns: number;
  /** The patch of each token, counted in reading order; null for a token without one. */
  readonly of: readonly (number | null)[];
}

export const middleOf = ({ rows, columns }: Patches): number =>
  Math.floor(rows / 2) * columns + Math.floor(columns / 2);

export interface Tokens {
  readonly labels: readonly string[];
  /** 0 or 1 for each token of a text pair. */
  readonly segments: readonly number[] | null;
  /** Positions of special tokens such as [CLS]. */
  readonly special: readonly number[];
  /** The words in order, and the word of each token; null if they are not known. */
  readonly words: { readonly labels: readonly string[]; readonly of: readonly number[] } | null;
  /** Missing or null without a place on the image. */
  readonly patches?: Patches | null;
  /** The position of the first token that the model generated; null or missing for none. */
  readonly generated?: number | null;
}

/** The score program; `ScoreProgram` in Python says what each field means. */
export interface Program {
  /** One for all heads, or one per head. */
  readonly scale: number | readonly number[];
  readonly mask: "none" | "causal" | "window" | "explicit";
  readonly window: readonly [number, number] | null;
  readonly blocks: readonly [number, number] | null;
  readonly softcap: number | null;
  /** By head; null for a head without a sink. */
  readonly sinks: readonly (number | null)[] | null;
  /** True if the block has a bias, or a relative bias. */
  readonly bias: boolean;
  readonly relative: boolean;
}

export interface LayerInfo {
  /** The number of the layer in the model. Numbers increase, but some may be missing. */
  readonly number: number;
  readonly heads: number;
  readonly key_heads: number;
  /** Dimensions per head; null without queries and keys. */
  readonly dim: number | null;
  /**
   * The pairs of components that a rotary embedding rotates together, among the `dims` from `start`
   * on: n and n + dims / 2 ("halves"), or 2n and 2n + 1 ("neighbours"), counted from `start`. Null
   * if there are none, or they are not known.
   */
  readonly rotary: {
    readonly pairs: "halves" | "neighbours";
    readonly dims: number;
    readonly start: number;
  } | null;
  /** The size of its block in bytes, as the kernel sends it. */
  readonly bytes: number;
  /** Null for a layer that has weights alone. */
  readonly program: Program | null;
  /** True if the page has weights alone although a program gives them. */
  readonly bare?: boolean;
  /**
   * By lens, the largest magnitude of the numbers of each head, or of the layer: of B − A, and of
   * lenses with a scale of their own. Missing where there are none.
   */
  readonly peaks?: Readonly<Record<string, readonly number[]>>;
  /** The least and the largest sum of a row of weights; null or missing if all are 1. */
  readonly sums?: readonly [number, number] | null;
  readonly fidelity: {
    readonly exact: boolean | null;
    readonly module: string;
    /** The largest difference that rounding alone makes in the precision of the model. */
    readonly tolerance: number;
  };
}

/** A lens, as `attnwidget/analysis/lenses` describes it: which numbers stand for queries and keys. */
export interface LensInfo {
  readonly name: string;
  readonly label: string;
  /** "" for none. */
  readonly description: string;
  /** The words for one number and for several. */
  readonly one: string;
  readonly many: string;
  /** True if numbers below zero mean the opposite of those above. */
  readonly signed: boolean;
  readonly digits: number;
  /** "" for none. */
  readonly unit: string;
  /** True if the number of a word is the sum over its keys and the mean over its queries. */
  readonly adds_up: boolean;
  /**
   * The origin of its numbers: computed here, weights times factors of each head and key as shares
   * of their row, or matrices of every head or of whole layers.
   */
  readonly kind: "browser" | "factors" | "heads" | "layers";
  /** True if the numbers of a layer are of all layers up to it. */
  readonly accumulates: boolean;
  /** The names of a factor, and of a weight times its factor; null for other kinds. */
  readonly symbols: readonly [factor: string, product: string] | null;
  /** By stack, the reasons why layers lack it. */
  readonly why_not: Readonly<Record<string, readonly WhyNot[]>>;
}

/** The reason why some layers lack a lens: in a few words, and as what is said of a layer. */
export interface WhyNot {
  readonly brief: string;
  readonly sentence: string;
  readonly layers: readonly number[];
}

/** The lens that every record has. */
export const ATTENTION: LensInfo = {
  name: "attention",
  label: "Attention",
  description: "",
  one: "weight",
  many: "weights",
  signed: false,
  digits: 3,
  unit: "",
  adds_up: true,
  kind: "browser",
  accumulates: false,
  symbols: null,
  why_not: {},
};

/** The reason why a layer of a record's own stack lacks a lens; null if it has it. */
export const whyNot = ({ why_not }: LensInfo, stack: string, layer: number): WhyNot | null =>
  why_not[stack]?.find(({ layers }) => layers.includes(layer)) ?? null;

/** True if pictures of a lens travel with the record. */
export const hasThumbnails = ({ kind }: LensInfo): boolean =>
  kind === "factors" || kind === "heads";

/** Values per head, by layer. */
export type ByHead<Value> = ReadonlyMap<LayerInfo, readonly Value[]>;

/** A number per head, from the record or from the user. */
export interface Metric {
  /** The name in choices. */
  readonly name: string;
  /** The name in full. */
  readonly label: string;
  /** "" for none. */
  readonly unit: string;
  /** The number of decimals. */
  readonly digits: number;
  /** True if zero is the middle of the colours. */
  readonly signed: boolean;
  /** The meanings of negative and of positive values. */
  readonly directions: readonly [string, string] | null;
  /** One sentence; "" for none. */
  readonly description: string;
  /** By layer, for the stacks that the metric applies to; null for no value. */
  readonly values: ByHead<number | null>;
  /** The same number for heads of a null, as "random weights"; null if it is not known. */
  readonly null: { readonly label: string; readonly values: ByHead<number | null> } | null;
  /** The ends of a confidence interval of each value; null if they are not known. */
  readonly interval: Readonly<Record<"low" | "high", ByHead<number | null>>> | null;
}

/** A link that somebody has annotated; its ends are the first token and the one after the last. */
export interface Arc {
  readonly stack: string;
  readonly query: readonly [number, number];
  readonly key: readonly [number, number];
  /** "" for none. */
  readonly label: string;
  /** The side whose largest weight decides whether a head finds it. */
  readonly by: Side;
}

/** A head near another one: the number of its layer, its own, and the distance. */
export type Neighbour = readonly [layer: number, head: number, distance: number];

export type Position = readonly [x: number, y: number];

/** The similarity of heads: places on a map on which alike heads are near each other. */
export interface Similarity {
  /** The distance between two heads, as "Jensen–Shannon distance". */
  readonly label: string;
  readonly places: ByHead<Position>;
  /** The nearest heads of each, the nearest first. */
  readonly nearest: ByHead<readonly Neighbour[]>;
  /** The share of the distances' variance that two dimensions keep; null if it is not known. */
  readonly kept: number | null;
  /** The places of heads of a null, found together with those of the heads. */
  readonly null: { readonly label: string; readonly places: ByHead<Position> } | null;
}

/** The pattern of each head: the tokens that it mostly attends to. */
export interface Patterns {
  /** The name of each pattern in a legend, and in a description of a head. */
  readonly kinds: readonly { readonly label: string; readonly description: string }[];
  /** Indices into `kinds`. */
  readonly values: ByHead<number>;
  /** Over many texts, the words for each head, and the rules with its numbers. */
  readonly words: ByHead<string>;
  readonly reasons: ByHead<string>;
}

/** Values per head as they are sent: by stack, in the order of its layers. */
export type SentByHead<Value> = Readonly<Record<string, readonly (readonly Value[])[]>>;

export interface SentMetric extends Omit<Metric, "values" | "null" | "interval"> {
  readonly values: SentByHead<number | null>;
  readonly null?: { readonly label: string; readonly values: SentByHead<number | null> };
  readonly interval?: Readonly<Record<"low" | "high", SentByHead<number | null>>>;
}

export interface SentSimilarity extends Omit<Similarity, "places" | "nearest" | "null"> {
  readonly places: SentByHead<Position>;
  readonly nearest: SentByHead<readonly Neighbour[]>;
  readonly null?: { readonly label: string; readonly places: SentByHead<Position> };
}

export interface SentPatterns extends Pick<Patterns, "kinds"> {
  readonly values: SentByHead<number>;
  readonly words?: SentByHead<string>;
  readonly reasons?: SentByHead<string>;
}

export interface StackInfo {
  readonly name: string;
  /** The stacks of A and B, if this one is their difference. Missing for a record's own stack. */
  readonly difference?: readonly [a: StackInfo, b: StackInfo];
  readonly queries: Tokens;
  readonly keys: Tokens;
  /** The number of evenly spaced queries behind thumbnails and metrics; null for all. */
  readonly sampled: number | null;
  readonly layers: readonly LayerInfo[];
}

/** A stack of a comparison's first record, with its partner and their difference. */
export interface ComparedStack {
  readonly a: StackInfo;
  /** The stack of the second record. */
  readonly b: StackInfo;
  /** Their difference, which is in no record: the layers have weights alone, B − A. */
  readonly difference: StackInfo;
}

/** Two records that are compared: the stacks of both are in one manifest. */
export interface Compared {
  /** By the name of the first record's stack. */
  readonly stacks: ReadonlyMap<string, ComparedStack>;
  /** The name of each record, such as its text or its model. */
  readonly names: readonly [a: string, b: string];
  /** The remark on how the tokens of both belong together. */
  readonly remark: string;
}

/** The stacks that can be chosen: of a comparison, those of the first record. */
export function ownStacks({ stacks, compared }: Manifest): readonly StackInfo[] {
  const others = new Set([...(compared?.stacks.values() ?? [])].map(({ b }) => b));
  return stacks.filter((stack) => !others.has(stack));
}

/** The stack of the first record to which a stack belongs: in a single record, it is its own. */
export function ownName({ compared }: Manifest, stack: string): string {
  const pairs = [...(compared?.stacks.values() ?? [])];
  const pair = pairs.find(({ b, difference }) => [b.name, difference.name].includes(stack));
  return pair?.a.name ?? stack;
}

export interface SentCompared {
  readonly stacks: readonly {
    readonly a: string;
    readonly b: string;
    readonly peaks: readonly (readonly number[])[];
    /** The same of other lenses; null for layers that one of both lacks. */
    readonly lenses?: Readonly<Record<string, readonly (readonly number[] | null)[]>>;
  }[];
  readonly names: readonly [string, string];
  readonly remark: string;
}

export interface Manifest {
  readonly version: number;
  readonly model: string;
  /** Attention modules that are not in the record, as "module: reason". */
  readonly missing: readonly string[];
  readonly stacks: readonly StackInfo[];
  /** The image that the model read: a WebP file in base64; null for none. */
  readonly image: string | null;
  /**
   * The number of texts over which thumbnails and metrics are means, and to which patterns belong;
   * null if they are of this text alone.
   */
  readonly texts: number | null;
  /** Missing or null for a single record. */
  readonly compared?: Compared | null;
  /** In the order of menus; the first is attention. */
  readonly lenses: readonly LensInfo[];
  readonly metrics: readonly Metric[];
  readonly patterns: Patterns;
}

export interface SentLens extends LensInfo {
  /** By stack and layer, as `LayerInfo.peaks`; null for shares of 1. */
  readonly peaks: SentByHead<number> | null;
}

export interface Head {
  readonly layer: LayerInfo;
  readonly head: number;
}

/** The places of a stack's tokens on the record's image; null if there are none to show. */
export function patchesOn(
  { image }: Manifest,
  { queries, keys }: Pick<StackInfo, "queries" | "keys">,
): Patches | null {
  return (image && queries === keys && queries.patches) || null;
}

/** The metric of a head; null for no value. */
export const metricValue = ({ values }: Metric, { layer, head }: Head): number | null =>
  values.get(layer)?.[head] ?? null;

/** The layer of this number, or else the one before it, or else the first. */
export function layerOf({ layers }: Pick<StackInfo, "layers">, number: number): LayerInfo {
  return layers.filter((layer) => layer.number <= number).at(-1) ?? layers[0];
}
