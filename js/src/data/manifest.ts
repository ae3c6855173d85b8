/** The manifest as it is read: every stack has its keys, and numbers of heads go by layer. */

import type {
  Neighbour,
  OfHead,
  Patches,
  Position,
  SentLayer,
  SentLens,
  SentManifest,
  SentMetric,
  SentPatterns,
  SentSimilarity,
  SentStack,
  Side,
  Tokens,
  WhyNot,
} from "./check-manifest.ts";

export type {
  Arc,
  Neighbour,
  OfHead,
  Patches,
  Position,
  Program,
  SentExample,
  SentMetric,
  Side,
  Tokens,
  WhyNot,
} from "./check-manifest.ts";

export const middleOf = ({ rows, columns }: Patches): number =>
  Math.floor(rows / 2) * columns + Math.floor(columns / 2);

export interface LayerInfo extends SentLayer {
  /**
   * By lens, the largest magnitude of the numbers of each head, or of the layer: of B − A, and of
   * lenses with a scale of their own. Missing where there are none.
   */
  readonly peaks?: Readonly<Record<string, readonly number[]>>;
}

export type LensInfo = Omit<SentLens, "peaks">;

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
  // A stack may be called "constructor".
  (Object.hasOwn(why_not, stack) && why_not[stack].find(({ layers }) => layers.includes(layer))) ||
  null;

/** True if pictures of a lens travel with the record. */
export const hasThumbnails = ({ kind }: LensInfo): boolean =>
  kind === "factors" || kind === "heads";

/** Values per head, by layer. */
export type ByHead<Value> = ReadonlyMap<LayerInfo, readonly Value[]>;

/** A number per head, from the record or from the user. */
export interface Metric extends Omit<SentMetric, "values" | "null" | "interval"> {
  readonly values: ByHead<number | null>;
  readonly null: { readonly label: string; readonly values: ByHead<number | null> } | null;
  readonly interval: Readonly<Record<"low" | "high", ByHead<number | null>>> | null;
}

/** The similarity of heads: places on a map on which alike heads are near each other. */
export interface Similarity extends Omit<SentSimilarity, "places" | "nearest"> {
  readonly places: ByHead<Position>;
  readonly nearest: ByHead<readonly Neighbour[]>;
}

/** The pattern of each head. */
export interface Patterns extends Pick<SentPatterns, "kinds"> {
  readonly values: ByHead<number>;
  readonly words: ByHead<string>;
  readonly reasons: ByHead<string>;
}

/** The examples of heads. */
export interface Examples {
  /** The beginning of each text. */
  readonly texts: readonly string[];
  /** The number of texts among which they are highest, usual, or lowest. */
  readonly count: number;
  /** By the name of a metric; null for an example that is not among the texts. */
  readonly metrics: ReadonlyMap<string, ByHead<OfHead>>;
}

/** An example that the reader wants to see. */
export interface Opening {
  /** Its place among the texts. */
  readonly text: number;
  readonly stack: string;
  readonly layer: number;
  readonly head: number;
  readonly query: number;
}

export interface StackInfo extends Omit<SentStack, "keys" | "sampled" | "layers"> {
  readonly keys: Tokens;
  /** The number of evenly spaced queries behind thumbnails and metrics; null for all. */
  readonly sampled: number | null;
  readonly layers: readonly LayerInfo[];
  /** The stacks of A and B, if this one is their difference. Missing for a record's own stack. */
  readonly difference?: readonly [a: StackInfo, b: StackInfo];
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

export interface Manifest extends Pick<SentManifest, "version" | "model" | "missing"> {
  readonly stacks: readonly StackInfo[];
  readonly image: string | null;
  readonly replay: Exclude<SentManifest["replay"], undefined>;
  readonly texts: number | null;
  /** In the order of menus; the first is attention. */
  readonly lenses: readonly LensInfo[];
  readonly compared: Compared | null;
  readonly metrics: readonly Metric[];
  readonly patterns: Patterns;
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

/** The name of the text of either side; null if both sides are the same text. */
export type Texts = Readonly<Record<Side, string>> | null;

/** A text has the name of the stack that attends within it. */
export function textsOf(stack: StackInfo, stacks: readonly StackInfo[]): Texts {
  if (stack.keys === stack.queries) return null;
  const namesOf = ({ labels }: Tokens) =>
    stacks
      .filter(({ queries, keys }) => queries === keys && `${queries.labels}` === `${labels}`)
      .map(({ name }) => name);
  const crossed = stack.name === "cross";
  // The encoder comes first, if the texts of both are the same.
  return {
    query: namesOf(stack.queries).at(-1) ?? (crossed ? "decoder" : ""),
    key: namesOf(stack.keys)[0] ?? (crossed ? "encoder" : ""),
  };
}

/** True if each query's row goes into the choice of the token after it. */
export const writesOn = (stack: StackInfo, texts: Texts): boolean =>
  typeof stack.queries.generated === "number" ||
  stack.name === "decoder" ||
  texts?.query === "decoder";
