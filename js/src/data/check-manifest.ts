/** Checks a manifest, so that the code that uses it can rely on it. */

import {
  type Check,
  either,
  fields,
  flag,
  integer,
  list,
  number,
  oneOf,
  optional,
  orNull,
  text,
} from "../basics/check.ts";
import type { SentExamples } from "./examples.ts";
import type {
  Arc,
  LayerInfo,
  LensInfo,
  Patches,
  SentCompared,
  SentMetric,
  SentPatterns,
  SentSimilarity,
  StackInfo,
  Tokens,
} from "./manifest.ts";

/** The most heads of a record: each is a cell of the model view. */
const MOST_HEADS = 2 ** 15;
const MOST_DIMENSIONS = 2 ** 14;
/** A view lists all metrics. */
const MOST_METRICS = 256;
const MOST_LENSES = 64;

/** Each is a pixel of a veil. */
const MOST_PATCHES = 2 ** 20;
/** In letters of base64, and in pixels. */
const LARGEST_IMAGE = 1.5 * 2 ** 20;
const LARGEST_SIDE = 512;

const MOST_DIGITS = 20;
/** All of them are drawn. */
const MOST_ARCS = 4096;
const LONGEST_LABEL = 60;
/** The nearest heads are listed. */
const MOST_NEAREST = 64;

const count = integer(1);
const exactly = (number: number) => integer(number, number);
const pair = (least: number) => list(integer(least), exactly(2));

const words: Check = (value) => {
  const wrong = fields({ labels: list(text()), of: list(integer(0)) })(value);
  if (wrong !== null) return wrong;
  const { labels, of } = value as { labels: unknown[]; of: number[] };
  // The tokens of a word are consecutive, and each word has at least one.
  const step = (at: number) => of[at] - (at ? of[at - 1] : -1);
  const begins = of.filter((_, at) => step(at) === 1).length;
  const steady = of.every((_, at) => step(at) === 1 || (at > 0 && step(at) === 0));
  return steady && begins === labels.length ? null : ".of";
};

const tokens: Check = (value) => {
  const wrong = fields({ labels: list(text(), count), words: orNull(words) })(value);
  if (wrong !== null) return wrong;
  const { labels, words: known } = value as Tokens;
  const perToken = exactly(labels.length);
  const { length } = labels;
  if (known && known.of.length !== length) return ".words.of";
  return fields({
    segments: orNull(list(integer(0, 1), perToken)),
    special: list(integer(0, length - 1)),
    patches: optional(orNull(patches(length))),
    generated: optional(orNull(integer(0, length - 1))),
  })(value);
};

const patches =
  (tokens: number): Check =>
  (value) => {
    const side = integer(1, MOST_PATCHES);
    const wrong = fields({ rows: side, columns: side })(value);
    if (wrong !== null) return wrong;
    const { rows, columns, of } = value as Patches;
    if (rows * columns > MOST_PATCHES) return ".rows";
    const place = orNull(integer(0, rows * columns - 1));
    if (list(place, exactly(tokens))(of) !== null) return ".of";
    // Every patch has one token.
    const placed = of.filter((patch) => patch !== null);
    const distinct = new Set(placed).size;
    return placed.length === distinct && distinct === rows * columns ? null : ".of";
  };

/**
 * A lossy WebP file in base64. Its size stands at its beginning, so that a small file cannot fill
 * the memory when it is decoded.
 */
const image: Check = (value) => {
  if (text(0, LARGEST_IMAGE)(value) !== null) return "";
  const head = /^[\w+/]{40}/.exec(value as string);
  if (!head) return "";
  const bytes = atob(head[0]);
  const parts = [bytes.slice(0, 4), bytes.slice(8, 16), bytes.slice(23, 26)];
  if (parts.join() !== "RIFF,WEBPVP8 ,\u009d\u0001\u002a") return "";
  const side = (at: number) => (bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8)) & 0x3fff;
  return [side(26), side(28)].every((pixels) => pixels > 0 && pixels <= LARGEST_SIDE) ? null : "";
};

function program(heads: number): Check {
  const per = exactly(heads);
  const shape = fields({
    scale: either(number, list(number, either(exactly(1), per))),
    mask: oneOf(["none", "causal", "window", "explicit"]),
    window: orNull(pair(0)),
    blocks: orNull(pair(1)),
    softcap: orNull(number),
    sinks: orNull(list(orNull(number), per)),
    bias: flag,
    relative: flag,
  });
  return (value) => {
    const wrong = shape(value);
    if (wrong !== null) return wrong;
    const { mask, window, softcap } = value as NonNullable<LayerInfo["program"]>;
    if ((mask === "window") !== Boolean(window)) return ".window";
    return softcap === 0 ? ".softcap" : null;
  };
}

const layer: Check = (value) => {
  const wrong = fields({
    number: integer(0, 2 ** 31),
    heads: integer(1, MOST_HEADS),
    dim: orNull(integer(1, MOST_DIMENSIONS)),
    bytes: integer(0),
    bare: optional(flag),
    sums: optional(orNull(list(number, exactly(2)))),
    fidelity: fields({ exact: orNull(flag), module: text(), tolerance: number }),
  })(value);
  if (wrong !== null) return wrong;
  const { heads, dim } = value as LayerInfo;
  return fields({
    key_heads: (own) =>
      integer(1, heads)(own) === null && heads % (own as number) === 0 ? null : "",
    program: dim === null ? oneOf([null]) : orNull(program(heads)),
    rotary: optional(orNull(rotary(dim ?? 0))),
  })(value);
};

const rotary =
  (dim: number): Check =>
  (value) => {
    const pairs = oneOf(["halves", "neighbours"]);
    const wrong = fields({ pairs, dims: integer(2), start: integer(0) })(value);
    if (wrong !== null) return wrong;
    const { dims, start } = value as NonNullable<LayerInfo["rotary"]>;
    return dims % 2 === 0 && start + dims <= dim ? null : ".dims";
  };

const stack: Check = (value) => {
  const wrong = fields({
    name: text(1, 200),
    queries: tokens,
    keys: optional(orNull(tokens)),
    sampled: optional(orNull(integer(1))),
    layers: list(layer, count),
  })(value);
  if (wrong !== null) return wrong;
  const { layers } = value as StackInfo;
  const next = layers.findIndex(({ number }, at) => at > 0 && number <= layers[at - 1].number);
  return next < 0 ? null : `.layers[${next}].number`;
};

/**
 * Values per head, by stack.
 *
 * @param required true if every stack needs values
 */
const byHead =
  (value: Check, stacks: readonly StackInfo[], required: boolean): Check =>
  (values) => {
    const present = stacks.filter(({ name }) => required || Object.hasOwn(Object(values), name));
    const rows = ({ layers }: StackInfo) =>
      list((row, at) => list(value, exactly(layers[at].heads))(row), exactly(layers.length));
    return fields(Object.fromEntries(present.map((stack) => [stack.name, rows(stack)])))(values);
  };

/** @param stacks the checked stacks of the record */
export const metrics = (stacks: readonly StackInfo[]): Check =>
  list(
    fields({
      name: text(1, 200),
      label: text(0, 200),
      unit: text(0, 200),
      digits: integer(0, MOST_DIGITS),
      signed: flag,
      directions: orNull(list(text(), exactly(2))),
      description: text(),
      values: byHead(orNull(number), stacks, false),
      null: optional(
        fields({ label: text(1, 200), values: byHead(orNull(number), stacks, false) }),
      ),
      interval: optional(
        fields({
          low: byHead(orNull(number), stacks, false),
          high: byHead(orNull(number), stacks, false),
        }),
      ),
    }),
    integer(0, MOST_METRICS),
  );

/** @param stacks the checked stacks of the record */
export const similarity = (stacks: readonly StackInfo[]): Check => {
  const place = list(number, exactly(2));
  const neighbour = list(number, exactly(3));
  const shape = fields({
    label: text(0, 200),
    kept: orNull(number),
    places: byHead(place, stacks, false),
    nearest: byHead(list(neighbour, integer(0, MOST_NEAREST)), stacks, false),
    null: optional(fields({ label: text(1, 200), places: byHead(place, stacks, false) })),
  });
  return (value) => {
    const wrong = shape(value);
    if (wrong !== null) return wrong;
    const { nearest } = value as SentSimilarity;
    const known = stacks.every(({ name, layers }) => {
      const heads = new Map(layers.map((layer) => [layer.number, layer.heads]));
      const named = (nearest[name] ?? []).flat(2);
      return named.every(([layer, head]) => integer(0, (heads.get(layer) ?? 0) - 1)(head) === null);
    });
    return known ? null : ".nearest";
  };
};

/** Annotated links. @param stacks the checked stacks of the record */
export const arcs = (stacks: readonly StackInfo[]): Check => {
  const shape = list(
    fields({
      stack: oneOf(stacks.map(({ name }) => name)),
      query: pair(0),
      key: pair(0),
      label: text(0, LONGEST_LABEL),
      by: oneOf(["query", "key"]),
    }),
    integer(0, MOST_ARCS),
  );
  return (value) => {
    const wrong = shape(value);
    if (wrong !== null) return wrong;
    const outside = (value as readonly Arc[]).findIndex(({ stack, query, key }) => {
      const of = stacks.find(({ name }) => name === stack) as StackInfo;
      const within = ([start, end]: Arc["query"], { labels }: Tokens) =>
        start < end && end <= labels.length;
      // Null keys are the queries' own.
      return !within(query, of.queries) || !within(key, of.keys ?? of.queries);
    });
    return outside < 0 ? null : `[${outside}]`;
  };
};

/** The examples of heads. @param stacks the checked stacks of the record */
export const examples = (stacks: readonly StackInfo[]): Check => {
  const shape = fields({ texts: list(text()), num_texts: count, metrics: fields({}) });
  return (value) => {
    const wrong = shape(value);
    if (wrong !== null) return wrong;
    const { texts, metrics: found } = value as SentExamples;
    const kinds = list(orNull(list(number, exactly(5))), exactly(3));
    for (const [name, values] of Object.entries(found)) {
      const place = byHead(kinds, stacks, false)(values);
      if (place !== null) return `.metrics.${name}${place}`;
      const named = Object.values(values).flat(2).flat();
      if (!named.every((each) => !each || integer(0, texts.length - 1)(each[0]) === null)) {
        return `.metrics.${name}`;
      }
    }
    return null;
  };
};

const kinds = list(fields({ label: text(), description: text() }), count);

const patterns =
  (stacks: readonly StackInfo[]): Check =>
  (value) => {
    const wrong = fields({ kinds })(value);
    if (wrong !== null) return wrong;
    const place = integer(0, (value as SentPatterns).kinds.length - 1);
    return fields({
      values: byHead(place, stacks, true),
      words: optional(byHead(text(), stacks, true)),
      reasons: optional(byHead(text(), stacks, true)),
    })(value);
  };

const reasons = list(
  fields({ brief: text(), sentence: text(), layers: list(integer(0)) }),
  integer(0, MOST_HEADS),
);

/** Lenses, of which attention is the first. */
const lenses = (stacks: readonly StackInfo[]): Check => {
  const names = stacks.map(({ name }) => name);
  const shape = list(
    fields({
      name: text(1, 200),
      label: text(0, 200),
      description: text(),
      one: text(),
      many: text(),
      signed: flag,
      digits: integer(0, MOST_DIGITS),
      unit: text(0, 200),
      adds_up: flag,
      kind: oneOf(["browser", "factors", "heads", "layers"]),
      accumulates: flag,
      symbols: orNull(list(text(), exactly(2))),
      why_not: fields(Object.fromEntries(names.map((name) => [name, optional(reasons)]))),
    }),
    integer(1, MOST_LENSES),
  );
  return (value) => {
    const wrong = shape(value);
    if (wrong !== null) return wrong;
    const all = value as readonly (LensInfo & { readonly peaks: unknown })[];
    if (new Set(all.map(({ name }) => name)).size < all.length) return "";
    for (const [at, { kind, symbols, peaks }] of all.entries()) {
      const scaled = kind === "heads" || kind === "layers";
      const of = kind === "layers" ? stacks.map(asOneHead) : stacks;
      const known = scaled ? orNull(byHead(number, of, false)) : oneOf([null]);
      if (known(peaks) !== null) return `[${at}].peaks`;
      if ((kind === "factors") !== (symbols !== null)) return `[${at}].symbols`;
    }
    return all[0].kind === "browser" ? null : "[0]";
  };
};

const asOneHead = (stack: StackInfo): StackInfo => ({
  ...stack,
  layers: stack.layers.map((layer) => ({ ...layer, heads: 1 })),
});

/** Two records that are compared: their stacks have the same tokens, layers and heads. */
const compared =
  (stacks: readonly StackInfo[]): Check =>
  (value) => {
    const wrong = fields({
      stacks: list(fields({ a: text(), b: text() }), count),
      names: list(text(), exactly(2)),
      remark: text(),
    })(value);
    if (wrong !== null) return wrong;
    const pairs = (value as SentCompared).stacks;
    const sizes = ({ queries, keys, layers }: StackInfo) =>
      JSON.stringify([
        queries.labels.length,
        keys?.labels.length ?? null,
        layers.map(({ number, heads }) => [number, heads]),
      ]);
    for (const [at, { a, b, peaks, lenses = {} }] of pairs.entries()) {
      const [own, other] = [a, b].map((name) => stacks.find((stack) => stack.name === name));
      if (!own || !other || own === other || sizes(own) !== sizes(other)) return `.stacks[${at}]`;
      const place = byHead(number, [own], true)({ [a]: peaks });
      if (place !== null) return `.stacks[${at}].peaks`;
      const ofLayers = list(
        (row, layer) => orNull(list(number, exactly(own.layers[layer].heads)))(row),
        exactly(own.layers.length),
      );
      const others = Object.values(Object(lenses)).every((each) => ofLayers(each) === null);
      if (!others) return `.stacks[${at}].lenses`;
    }
    const names = pairs.flatMap(({ a, b }) => [a, b]);
    return new Set(names).size === names.length ? null : ".stacks";
  };

export const manifest: Check = (value) => {
  const wrong = fields({
    model: text(),
    missing: list(text()),
    stacks: list(stack, count),
    image: optional(orNull(image)),
    texts: optional(orNull(count)),
  })(value);
  if (wrong !== null) return wrong;
  const { stacks } = value as { stacks: readonly StackInfo[] };
  if (new Set(stacks.map(({ name }) => name)).size < stacks.length) return ".stacks";
  const numbers = fields({
    lenses: optional(lenses(stacks)),
    metrics: metrics(stacks),
    patterns: patterns(stacks),
    compared: optional(orNull(compared(stacks))),
  })(value);
  if (numbers !== null) return numbers;
  const { metrics: found } = value as { metrics: readonly SentMetric[] };
  // Every stack needs a metric, the default of the model view.
  if (!stacks.every(({ name }) => found.some(({ values }) => Object.hasOwn(values, name)))) {
    return ".metrics";
  }
  const all = stacks.flatMap(({ layers }) => layers.map(({ heads }) => heads));
  return all.reduce((sum, heads) => sum + heads, 0) <= MOST_HEADS ? null : ".stacks";
};
