/**
 * A manifest as `attnwidget/wire/manifest.py` writes it: its checks, so that the code that uses it can
 * rely on it, and the types that follow from them.
 */

import {
  also,
  type Check,
  type Checked,
  either,
  exactly,
  fields,
  flag,
  integer,
  list,
  number,
  oneOf,
  optional,
  orNull,
  record,
  text,
  tuple,
} from "../basics/check.ts";
import { same } from "../basics/same.ts";

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

const index = integer(0);
const count = integer(1);
const name = text(1, 200);
const side = oneOf(["query", "key"]);

export type Side = Checked<typeof side>;

/** The words in order, and the word of each token. */
const words = also(fields({ labels: list(text()), of: list(index) }), ({ labels, of }) => {
  // The tokens of a word are consecutive, and each word has at least one.
  const step = (at: number) => of[at] - (at ? of[at - 1] : -1);
  const begins = of.filter((_, at) => step(at) === 1).length;
  const steady = of.every((_, at) => step(at) === 1 || (at > 0 && step(at) === 0));
  return steady && begins === labels.length ? null : ".of";
});

const patchSide = integer(1, MOST_PATCHES);

/** The places of tokens on the record's image, which is cut into a grid. */
const patches = (tokens: number) =>
  also(fields({ rows: patchSide, columns: patchSide }), ({ rows, columns }) => {
    if (rows * columns > MOST_PATCHES) return ".rows";
    const place = orNull(integer(0, rows * columns - 1));
    const more = fields({
      /** The patch of each token, counted in reading order; null for a token without one. */
      of: list(place, exactly(tokens)),
    });
    return also(more, ({ of }) => {
      // Every patch has one token.
      const placed = of.filter((patch) => patch !== null);
      const distinct = new Set(placed).size;
      return placed.length === distinct && distinct === rows * columns ? null : ".of";
    });
  });

export type Patches = Checked<ReturnType<typeof patches>>;

const tokens = also(
  fields({
    labels: list(text(), count),
    /** Null if they are not known. */
    words: orNull(words),
  }),
  ({ labels: { length }, words: known }) => {
    if (known && known.of.length !== length) return ".words.of";
    const position = integer(0, length - 1);
    return fields({
      /** 0 or 1 for each token of a text pair. */
      segments: orNull(list(integer(0, 1), exactly(length))),
      /** Positions of special tokens such as [CLS]. */
      special: list(position),
      /** Missing or null without a place on the image. */
      patches: optional(orNull(patches(length))),
      /** The position of the first token that the model generated; null or missing for none. */
      generated: optional(orNull(position)),
    });
  },
);

export type Tokens = Checked<typeof tokens>;

/**
 * A lossy WebP file in base64. Its size stands at its beginning, so that a small file cannot fill
 * the memory when it is decoded.
 */
const image = also(text(0, LARGEST_IMAGE), (value) => {
  const head = /^[\w+/]{40}/.exec(value);
  if (!head) return "";
  const bytes = atob(head[0]);
  const parts = [bytes.slice(0, 4), bytes.slice(8, 16), bytes.slice(23, 26)];
  if (parts.join() !== "RIFF,WEBPVP8 ,\u009d\u0001\u002a") return "";
  const side = (at: number) => (bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8)) & 0x3fff;
  return [side(26), side(28)].every((pixels) => pixels > 0 && pixels <= LARGEST_SIDE) ? null : "";
});

/** The score program; `ScoreProgram` in Python says what each field means. */
const program = (heads: number) =>
  also(
    fields({
      /** One for all heads, or one per head. */
      scale: either(number, list(number, either(exactly(1), exactly(heads)))),
      mask: oneOf(["none", "causal", "window", "explicit"]),
      window: orNull(tuple(index, index)),
      blocks: orNull(tuple(count, count)),
      softcap: orNull(number),
      /** By head; null for a head without a sink. */
      sinks: orNull(list(orNull(number), exactly(heads))),
      /** True if the block has a bias, or a relative bias. */
      bias: flag,
      relative: flag,
    }),
    ({ mask, window, softcap }) => {
      if ((mask === "window") !== Boolean(window)) return ".window";
      return softcap === 0 ? ".softcap" : null;
    },
  );

export type Program = Checked<ReturnType<typeof program>>;

/**
 * The pairs of components that a rotary embedding rotates together, among the `dims` from `start` on:
 * n and n + dims / 2 ("halves"), or 2n and 2n + 1 ("neighbours"), counted from `start`.
 */
const rotary = (dim: number) =>
  also(
    fields({ pairs: oneOf(["halves", "neighbours"]), dims: integer(2), start: index }),
    ({ dims, start }) => (dims % 2 === 0 && start + dims <= dim ? null : ".dims"),
  );

const layer = also(
  fields({
    /** The number of the layer in the model. Numbers increase, but some may be missing. */
    number: integer(0, 2 ** 31),
    heads: integer(1, MOST_HEADS),
    /** Dimensions per head; null without queries and keys. */
    dim: orNull(integer(1, MOST_DIMENSIONS)),
    /** The size of its block in bytes, as the kernel sends it. */
    bytes: index,
    /** True if the page has weights alone although a program gives them. */
    bare: optional(flag),
    /** The least and the largest sum of a row of weights; null or missing if all are 1. */
    sums: optional(orNull(tuple(number, number))),
    fidelity: fields({
      exact: orNull(flag),
      module: text(),
      /** The largest difference that rounding alone makes in the precision of the model. */
      tolerance: number,
      /** How stack, axes and labels are known; null or missing if that is not said. */
      labels: optional(orNull(oneOf(["checked", "assumed"]))),
    }),
  }),
  ({ heads, dim }) =>
    fields({
      key_heads: also(integer(1, heads), (own) => (heads % own === 0 ? null : "")),
      /** Null for a layer that has weights alone. */
      program: dim === null ? oneOf([null]) : orNull(program(heads)),
      /** Null if there are none, or they are not known. */
      rotary: optional(orNull(rotary(dim ?? 0))),
    }),
);

export type SentLayer = Checked<typeof layer>;

const stack = also(
  fields({
    name,
    queries: tokens,
    /** Null if the keys are the queries' own tokens. */
    keys: optional(orNull(tokens)),
    /** The number of evenly spaced queries behind thumbnails and metrics; null for all. */
    sampled: optional(orNull(count)),
    layers: list(layer, count),
  }),
  ({ layers }) => {
    const next = layers.findIndex(({ number }, at) => at > 0 && number <= layers[at - 1].number);
    return next < 0 ? null : `.layers[${next}].number`;
  },
);

export type SentStack = Checked<typeof stack>;

/** The part of checked stacks, as sent or as read, that other checks need. */
export type Stacks = readonly (Pick<SentStack, "name" | "queries" | "keys"> & {
  readonly layers: readonly Pick<SentLayer, "number" | "heads">[];
})[];

/** Values per head as they are sent: by stack, in the order of its layers. */
export type SentByHead<Value> = Readonly<Record<string, readonly (readonly Value[])[]>>;

const perLayer = <Value>(value: Check<Value>, { layers }: Stacks[0]) =>
  list<readonly Value[]>(
    (row, at) => list(value, exactly(layers[at].heads))(row),
    exactly(layers.length),
  );

/** @param required true if every stack needs values */
const byHead =
  <Value>(value: Check<Value>, stacks: Stacks, required = false): Check<SentByHead<Value>> =>
  (values) => {
    const present = stacks.filter(({ name }) => required || Object.hasOwn(Object(values), name));
    const checks = present.map((stack) => [stack.name, perLayer(value, stack)] as const);
    return fields(Object.fromEntries(checks))(values);
  };

/** @param stacks the checked stacks of the record */
export const metrics = (stacks: Stacks) => {
  const values = byHead(orNull(number), stacks);
  return list(
    fields({
      /** The name in choices. */
      name,
      /** The name in full. */
      label: text(0, 200),
      /** "" for none. */
      unit: text(0, 200),
      /** The number of decimals. */
      digits: integer(0, MOST_DIGITS),
      /** True if zero is the middle of the colours. */
      signed: flag,
      /** The meanings of negative and of positive values. */
      directions: orNull(tuple(text(), text())),
      /** One sentence; "" for none. */
      description: text(),
      /** For the stacks that the metric applies to; null for no value. */
      values,
      /** The same number for heads of a null, as "random weights". */
      null: optional(fields({ label: name, values })),
      /** The ends of a confidence interval of each value. */
      interval: optional(fields({ low: values, high: values })),
    }),
    integer(0, MOST_METRICS),
  );
};

export type SentMetric = Checked<ReturnType<typeof metrics>>[number];

const place = tuple(number, number);
const neighbour = tuple(number, number, number);

/** A place on the map of heads. */
export type Position = Checked<typeof place>;

/** A head near another one: the number of its layer, its own, and the distance. */
export type Neighbour = Checked<typeof neighbour>;

/** @param stacks the checked stacks of the record */
export const similarity = (stacks: Stacks) =>
  also(
    fields({
      /** The distance between two heads, as "Jensen–Shannon distance". */
      label: text(0, 200),
      /** The share of the distances' variance that two dimensions keep; null if it is not known. */
      kept: orNull(number),
      places: byHead(place, stacks),
      /** The nearest heads of each, the nearest first. */
      nearest: byHead(list(neighbour, integer(0, MOST_NEAREST)), stacks),
    }),
    ({ nearest }) => {
      const known = stacks.every(({ name, layers }) => {
        const heads = new Map(layers.map((layer) => [layer.number, layer.heads]));
        const named = (nearest[name] ?? []).flat(2);
        return named.every(
          ([layer, head]) => integer(0, (heads.get(layer) ?? 0) - 1)(head) === null,
        );
      });
      return known ? null : ".nearest";
    },
  );

export type SentSimilarity = Checked<ReturnType<typeof similarity>>;

/** Links that somebody has annotated. @param stacks the checked stacks of the record */
export const arcs = (stacks: Stacks) =>
  also(
    list(
      fields({
        stack: oneOf(stacks.map(({ name }) => name)),
        /** The first token and the one after the last, of both ends. */
        query: tuple(index, index),
        key: tuple(index, index),
        /** "" for none. */
        label: text(0, LONGEST_LABEL),
        /** The side whose largest weight decides whether a head finds it. */
        by: side,
      }),
      integer(0, MOST_ARCS),
    ),
    (sent) => {
      const outside = sent.findIndex(({ stack, query, key }) => {
        const of = stacks.find(({ name }) => name === stack) as Stacks[0];
        const within = ([start, end]: readonly [number, number], { labels }: Tokens) =>
          start < end && end <= labels.length;
        // Null keys are the queries' own.
        return !within(query, of.queries) || !within(key, of.keys ?? of.queries);
      });
      return outside < 0 ? null : `[${outside}]`;
    },
  );

export type Arc = Checked<ReturnType<typeof arcs>>[number];

/** The place of a text, its rank from 0, its number, and the query and key of the head's strongest pair. */
const example = tuple(number, number, number, number, number);
/** The examples with the highest number, with that next to the median, and with the lowest. */
const exampleKinds = list(orNull(example), exactly(3));

export type SentExample = Checked<typeof example>;
export type OfHead = Checked<typeof exampleKinds>;

/**
 * The examples of heads: texts in which a number of a head is highest, usual, or lowest.
 *
 * @param stacks the checked stacks of the record
 */
export const examples = (stacks: Stacks) =>
  also(
    fields({
      /** The beginning of each text. */
      texts: list(text()),
      /** The number of texts among which they are highest, usual, or lowest. */
      num_texts: count,
      metrics: record(byHead(exampleKinds, stacks)),
    }),
    ({ texts, metrics: found }) => {
      for (const [name, values] of Object.entries(found)) {
        const named = Object.values(values).flat(2).flat();
        if (!named.every((each) => !each || integer(0, texts.length - 1)(each[0]) === null)) {
          return `.metrics.${name}`;
        }
      }
      return null;
    },
  );

const kinds = list(fields({ label: text(), description: text() }), count);

/** The pattern of each head: the tokens that it mostly attends to. */
const patterns = (stacks: Stacks) =>
  also(
    fields({
      /** The name of each pattern in a legend, and in a description of a head. */
      kinds,
    }),
    ({ kinds }) =>
      fields({
        /** Indices into `kinds`. */
        values: byHead(integer(0, kinds.length - 1), stacks, true),
        /** Over many texts, the words for each head, and the rules with its numbers. */
        words: optional(byHead(text(), stacks, true)),
        reasons: optional(byHead(text(), stacks, true)),
      }),
  );

export type SentPatterns = Checked<ReturnType<typeof patterns>>;

const why = fields({
  brief: text(),
  /** The reason, as said of a layer. */
  sentence: text(),
  layers: list(index, integer(0, MOST_HEADS)),
});

/** The reason why some layers lack a lens. */
export type WhyNot = Checked<typeof why>;

/** A lens, as `attnwidget/analysis/lenses` describes it: the numbers for queries and keys. */
const lens = (stacks: Stacks) =>
  also(
    fields({
      name,
      label: text(0, 200),
      /** "" for none. */
      description: text(),
      /** The words for one number and for several. */
      one: text(),
      many: text(),
      /** True if numbers below zero mean the opposite of those above. */
      signed: flag,
      digits: integer(0, MOST_DIGITS),
      /** "" for none. */
      unit: text(0, 200),
      /** True if the number of a word is the sum over its keys and the mean over its queries. */
      adds_up: flag,
      /**
       * The origin of its numbers: computed here, weights times factors of each head and key as
       * shares of their row, or matrices of every head or of whole layers.
       */
      kind: oneOf(["browser", "factors", "heads", "layers"]),
      /** True if the numbers of a layer are of all layers up to it. */
      accumulates: flag,
      /** By stack, the reasons why layers lack it. */
      why_not: record(list(why, integer(0, MOST_HEADS))),
    }),
    ({ kind }) => {
      const one = ({ layers, ...stack }: Stacks[0]) => ({
        ...stack,
        layers: layers.map((layer) => ({ ...layer, heads: 1 })),
      });
      const scaled = orNull(byHead(number, kind === "layers" ? stacks.map(one) : stacks));
      return fields({
        /** The names of a factor, and of a weight times its factor; null for other kinds. */
        symbols: kind === "factors" ? tuple(text(), text()) : oneOf([null]),
        /** By stack and layer, the largest magnitudes; null for shares of 1. */
        peaks: kind === "heads" || kind === "layers" ? scaled : oneOf([null]),
      });
    },
  );

/** Lenses in the order of menus, of which the first is attention. */
const lenses = (stacks: Stacks) =>
  also(list(lens(stacks), integer(1, MOST_LENSES)), (all) =>
    new Set(all.map(({ name }) => name)).size < all.length || all[0].kind !== "browser" ? "" : null,
  );

export type SentLens = Checked<ReturnType<typeof lens>>;

/** Two records that are compared: their stacks have the same tokens, layers and heads. */
const compared = (stacks: Stacks) => {
  const sizes = ({ queries, keys, layers }: Stacks[0]) => [
    queries.labels.length,
    keys?.labels.length ?? null,
    layers.map(({ number, heads }) => [number, heads]),
  ];
  const pair = also(fields({ a: text(), b: text() }), ({ a, b }) => {
    const [own, other] = [a, b].map((name) => stacks.find((stack) => stack.name === name));
    if (!own || !other || own === other || !same(sizes(own), sizes(other))) return "";
    const heads = ({ heads }: Stacks[0]["layers"][0]) => list(number, exactly(heads));
    const ofLayers = list<readonly number[] | null>(
      (row, at) => orNull(heads(own.layers[at]))(row),
      exactly(own.layers.length),
    );
    return fields({
      /** The largest |B − A| of each head. */
      peaks: perLayer(number, own),
      /** The same of other lenses; null for layers that one of both lacks. */
      lenses: record(ofLayers),
    });
  });
  const shape = fields({
    stacks: list(pair, count),
    /** The name of each record, such as its text or its model. */
    names: tuple(text(), text()),
    /** The remark on how the tokens of both belong together. */
    remark: text(),
  });
  return also(shape, ({ stacks: pairs }) => {
    const names = pairs.flatMap(({ a, b }) => [a, b]);
    return new Set(names).size === names.length ? null : ".stacks";
  });
};

export type SentCompared = Checked<ReturnType<typeof compared>>;

export const manifest = also(
  fields({
    version: number,
    model: text(),
    /** Attention modules that are not in the record, as "module: reason". */
    missing: list(text()),
    stacks: list(stack, count),
    /** The image that the model read; null or missing for none. */
    image: optional(orNull(image)),
    /** The distance of the recorded pass's logits from the generation's, of a generated text. */
    replay: optional(orNull(fields({ difference: number, reason: text() }))),
    /**
     * The number of texts over which thumbnails and metrics are means, and to which patterns belong;
     * null or missing if they are of this text alone.
     */
    texts: optional(orNull(count)),
  }),
  ({ stacks }) => {
    if (new Set(stacks.map(({ name }) => name)).size < stacks.length) return ".stacks";
    const heads = stacks.flatMap(({ layers }) => layers.map(({ heads }) => heads));
    if (heads.reduce((sum, own) => sum + own, 0) > MOST_HEADS) return ".stacks";
    const numbers = fields({
      lenses: lenses(stacks),
      metrics: metrics(stacks),
      patterns: patterns(stacks),
      /** Null or missing for a single record. */
      compared: optional(orNull(compared(stacks))),
    });
    return also(numbers, ({ metrics: found }) => {
      // Every stack needs a metric, the default of the model view.
      const all = stacks.every(({ name }) =>
        found.some(({ values }) => Object.hasOwn(values, name)),
      );
      return all ? null : ".metrics";
    });
  },
);

export type SentManifest = Checked<typeof manifest>;
