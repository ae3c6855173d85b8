/** The manifest: what `attnwidget/wire/manifest.py` writes. */

export type Side = "query" | "key";

export interface Tokens {
  readonly labels: readonly string[];
  /** 0 or 1 for each token of a text pair. */
  readonly segments: readonly number[] | null;
  /** Positions of special tokens such as [CLS]. */
  readonly special: readonly number[];
  /** The words in order, and the word of each token; null where they are not known. */
  readonly words: { readonly labels: readonly string[]; readonly of: readonly number[] } | null;
}

/** The score program; `ScoreProgram` in Python says what each field means. */
export interface Program {
  /** One for all heads, or one per head. */
  readonly scale: number | readonly number[];
  readonly mask: "none" | "causal" | "window" | "explicit";
  readonly window: readonly [number, number] | null;
  readonly blocks: readonly [number, number] | null;
  readonly softcap: number | null;
  /** Null where a head's sink is switched off. */
  readonly sinks: readonly (number | null)[] | null;
  /** True where the block carries a bias, and a relative one. */
  readonly bias: boolean;
  readonly relative: boolean;
}

export interface LayerInfo {
  /** Its number in the model. Numbers increase, but some may be missing. */
  readonly number: number;
  readonly heads: number;
  readonly key_heads: number;
  /** Dimensions per head; null where there are no queries and keys. */
  readonly dim: number | null;
  /**
   * Which components of queries and keys a rotary embedding turned together, of the `dims` from
   * `start` on, and counted from there: n and n + dims / 2 ("halves"), or 2n and 2n + 1
   * ("neighbours"). Null where none or not known.
   */
  readonly rotary: {
    readonly pairs: "halves" | "neighbours";
    readonly dims: number;
    readonly start: number;
  } | null;
  /** The size of its block as the kernel sends it. */
  readonly bytes: number;
  /** Null where the layer is there as weights alone. */
  readonly program: Program | null;
  /** True where the page needs nothing but weights, though a program gives them. */
  readonly bare?: boolean;
  readonly fidelity: {
    readonly exact: boolean | null;
    readonly module: string;
    /** The largest difference that rounding alone makes in the precision of the model. */
    readonly tolerance: number;
  };
}

/** A value of every head of a layer. */
export type ByHead<Value> = ReadonlyMap<LayerInfo, readonly Value[]>;

/** A number per head: one that every record has, or one that the user computed. */
export interface Metric {
  /** By which it is chosen. */
  readonly name: string;
  /** The name in full. */
  readonly label: string;
  /** "" for none. */
  readonly unit: string;
  /** Decimals that are shown. */
  readonly digits: number;
  /** True if zero is the middle of its colours. */
  readonly signed: boolean;
  /** The meaning of a negative and of a positive number. */
  readonly directions: readonly [string, string] | null;
  /** One sentence; "" for none. */
  readonly description: string;
  /** Of the layers of all stacks in which it means something; null for no value. */
  readonly values: ByHead<number | null>;
}

/** The kinds of heads. */
export interface Patterns {
  /** A kind's name in a legend, and as it is said of one head. */
  readonly kinds: readonly { readonly label: string; readonly description: string }[];
  /** The places among these. */
  readonly values: ByHead<number>;
}

/** A value of every head, as it is sent: by stack, in the order of its layers. */
export type SentByHead<Value> = Readonly<Record<string, readonly (readonly Value[])[]>>;

export interface SentMetric extends Omit<Metric, "values"> {
  readonly values: SentByHead<number | null>;
}

export interface SentPatterns extends Omit<Patterns, "values"> {
  readonly values: SentByHead<number>;
}

export interface StackInfo {
  readonly name: string;
  readonly queries: Tokens;
  readonly keys: Tokens;
  /** The number of queries, evenly spread, that thumbnails and metrics come from; null for all. */
  readonly sampled: number | null;
  readonly layers: readonly LayerInfo[];
}

export interface Manifest {
  readonly version: number;
  readonly model: string;
  /** Attention that is not in the record, as "module: reason". */
  readonly missing: readonly string[];
  readonly stacks: readonly StackInfo[];
  readonly metrics: readonly Metric[];
  readonly patterns: Patterns;
}

/** One head of the model. */
export interface Head {
  readonly layer: LayerInfo;
  readonly head: number;
}

/** The metric of a head; null for no value. */
export const metricValue = ({ values }: Metric, { layer, head }: Head): number | null =>
  values.get(layer)?.[head] ?? null;

/** The layer of this number; where the stack has none, the one before it, or else the first. */
export function layerOf({ layers }: Pick<StackInfo, "layers">, number: number): LayerInfo {
  return layers.filter((layer) => layer.number <= number).at(-1) ?? layers[0];
}
