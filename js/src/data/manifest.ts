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
  readonly measures: Readonly<Record<Measure, readonly number[]>>;
}

export type Measure = "entropy" | "distance" | "previous" | "same" | "next" | "first" | "special";

export interface StackInfo {
  readonly name: string;
  readonly queries: Tokens;
  readonly keys: Tokens;
  /** The number of queries, evenly spread, that thumbnails and measures come from; null for all. */
  readonly sampled: number | null;
  readonly layers: readonly LayerInfo[];
}

export interface Manifest {
  readonly version: number;
  readonly model: string;
  /** Attention that is not in the record, as "module: reason". */
  readonly missing: readonly string[];
  readonly stacks: readonly StackInfo[];
}

/** The layer of this number; where the stack has none, the one before it, or else the first. */
export function layerOf({ layers }: StackInfo, number: number): LayerInfo {
  return layers.filter((layer) => layer.number <= number).at(-1) ?? layers[0];
}
