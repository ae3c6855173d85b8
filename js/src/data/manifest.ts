/**
 * A manifest, as `attnwidget/wire/manifest.py` writes it and as it is read: every stack has its keys,
 * and numbers of heads go by layer. Each part is declared by its reader, from which its type follows.
 */

import {
  also,
  as,
  either,
  exactly,
  fields,
  flag,
  integer,
  list,
  maybe,
  number,
  oneOf,
  optional,
  orNull,
  type Read,
  type Reader,
  record,
  text,
  tuple,
  where,
} from "../basics/reader.ts";
import { same } from "../basics/same.ts";

/** The most heads of a record: each is a cell of the model view. */
const MOST_HEADS = 2 ** 15;
const MOST_DIMENSIONS = 2 ** 14;
/** A view lists all metrics. */
const MOST_METRICS = 256;
const MOST_LENSES = 64;
const MOST_SCORE_GRIDS = 64;
const MOST_CELLS = 2 ** 18;

/** Each is a pixel of a veil. */
const MOST_PATCHES = 2 ** 20;
const MOST_GRIDS = 2 ** 12;
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

export type Side = Read<typeof side>;

const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * The user's words, in Unicode's isolates if they are written from right to left, so that the numbers
 * and tokens beside them in a line keep their order.
 */
const isolated = (words: Reader<string>): Reader<string> =>
  as(words, (own) => (RIGHT_TO_LEFT.test(own) ? `\u2068${own}\u2069` : own));

/** The most letters of a lens's words, which stand before the numbers of a line. */
const MOST_LETTERS = 40;

/** Words that are shortened where they are long. */
const brief = (words: Reader<string>): Reader<string> =>
  isolated(
    as(words, (own) => {
      const letters = [...own];
      const short = letters.slice(0, MOST_LETTERS - 1).join("");
      return letters.length > MOST_LETTERS ? `${short}…` : own;
    }),
  );

/** The words in order, and the word of each token. */
const words = where(fields({ labels: list(text()), of: list(index) }), ({ labels, of }) => {
  // The tokens of a word are consecutive, and each word has at least one.
  const follows = (word: number, at: number) =>
    at ? word === of[at - 1] || word === of[at - 1] + 1 : word === 0;
  return of.every(follows) && (of.at(-1) ?? -1) === labels.length - 1 ? null : ".of";
});

const patchSide = integer(1, MOST_PATCHES);

/** (left, top, right, bottom) in fractions of an image. */
const box = tuple(number, number, number, number);

/** A grid of patches on an image, or on a crop of it; `Grid` in Python says what each field means. */
const grid = where(
  fields({
    rows: patchSide,
    columns: patchSide,
    image: integer(0),
    box,
    name: text(0, 200),
  }),
  ({ box: [left, top, right, bottom] }) => (left < right && top < bottom ? null : ".box"),
);

export type Grid = Read<typeof grid>;

const sizeOf = (grids: readonly Grid[]): number =>
  grids.reduce((sum, { rows, columns }) => sum + rows * columns, 0);

/** The places of tokens on the record's images, which are sent as numbers through all grids. */
const places = (tokens: number) =>
  as(
    where(
      also(
        where(fields({ grids: list(grid, integer(1, MOST_GRIDS)) }), ({ grids }) =>
          sizeOf(grids) > MOST_PATCHES ? ".grids" : null,
        ),
        ({ grids }) =>
          fields({
            of: list(orNull(integer(0, sizeOf(grids) - 1)), exactly(tokens)),
            /** True if tokens read somewhat beyond their patches. */
            soft: flag,
          }),
      ),
      ({ of }) => {
        const placed = of.filter((patch) => patch !== null);
        return placed.length && new Set(placed).size === placed.length ? null : ".of";
      },
    ),
    ({ grids, of, soft }) => {
      const owners = grids.flatMap(({ rows, columns }, at) => Array(rows * columns).fill(at));
      const starts = grids.map((_, at) => sizeOf(grids.slice(0, at)));
      /** By token, the number of its grid; -1 for a token without a place, as a word. */
      const on = of.map((patch): number => (patch === null ? -1 : owners[patch]));
      /** By token, its patch on that grid, counted in reading order; null without a place. */
      const own = of.map((patch, token) => (patch === null ? null : patch - starts[on[token]]));
      return { grids, of: own, on, soft };
    },
  );

/** One grid with the tokens on it. */
export interface Patches extends Grid {
  /** The patch of each token; null for all tokens that are elsewhere, or nowhere. */
  readonly of: readonly (number | null)[];
  /** The width divided by the height of what it covers. */
  readonly aspect: number;
}

/** The token in the middle of a grid, or the nearest to it; -1 if there is none. */
export function middleOf({ rows, columns, of }: Pick<Patches, "rows" | "columns" | "of">): number {
  const [down, across] = [Math.floor(rows / 2), Math.floor(columns / 2)];
  let [middle, least] = [-1, Number.POSITIVE_INFINITY];
  of.forEach((patch, token) => {
    if (patch === null) return;
    const far = Math.hypot(Math.floor(patch / columns) - down, (patch % columns) - across);
    if (far < least) [middle, least] = [token, far];
  });
  return middle;
}

const labels = where(
  fields({
    labels: list(text(), count),
    /** Null if they are not known. */
    words: orNull(words),
  }),
  ({ labels, words: known }) => (known && known.of.length !== labels.length ? ".words.of" : null),
);

const tokens = also(labels, ({ labels: { length } }) =>
  fields({
    /** 0 or 1 for each token of a text pair. */
    segments: orNull(list(integer(0, 1), exactly(length))),
    /** Positions of special tokens such as [CLS]. */
    special: list(integer(0, length - 1)),
    /** Null without places on images. */
    patches: maybe(places(length)),
    /** The number of the image, and the box that a detection model predicts. */
    boxes: maybe(list(orNull(tuple(integer(0), box)), exactly(length))),
    /** The position of the first token that the model generated; null for none. */
    generated: maybe(integer(0, length - 1)),
  }),
);

export type Tokens = Read<typeof tokens>;

/** The score program; `ScoreProgram` in Python says what each field means. */
const program = (heads: number) =>
  where(
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

export type Program = Read<ReturnType<typeof program>>;

/** The program of a layer without a softmax; `Recurrence` in Python explains each field. */
const recurrence = (heads: number, dim: number) =>
  fields({
    scale: number,
    query_heads: where(integer(1, heads), (own) => (heads % own === 0 ? null : "")),
    /** The numbers of each token's decay; 0 for none. */
    decay: where(integer(0, dim), (columns) => (columns < 2 || columns === dim ? null : "")),
    /** True if the block has them. */
    write: flag,
    erase: flag,
    own: orNull(list(number, exactly(heads))),
  });

/**
 * The pairs of components that a rotary embedding rotates together, among the `dims` from `start` on:
 * n and n + dims / 2 ("halves"), or 2n and 2n + 1 ("neighbours"), counted from `start`.
 */
const rotary = (dim: number) =>
  where(
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
    /** The numbers that a layer without a softmax has in place of weights, of either sign. */
    signed: optional(oneOf(["coefficients", "contributions"])),
    /** The least and the largest sum of a row of weights; null if all are 1. */
    sums: maybe(tuple(number, number)),
    fidelity: fields({
      exact: orNull(flag),
      module: text(),
      /** The largest difference that rounding alone makes in the precision of the model. */
      tolerance: number,
      /** How stack, axes and labels are known; null if that is not said. */
      labels: maybe(oneOf(["checked", "assumed"])),
    }),
  }),
  ({ heads, dim }) =>
    fields({
      key_heads: where(integer(1, heads), (own) => (heads % own === 0 ? null : "")),
      /** By head, the layer and head of B beside it; missing where all have the same numbers. */
      partners: optional(list(tuple(index, index), exactly(heads))),
      /** Null for a layer that has weights alone. */
      program: dim === null ? oneOf([null]) : orNull(program(heads)),
      /** Null for a layer that has a softmax, or coefficients alone. */
      recurrence: optional(dim === null ? oneOf([null]) : orNull(recurrence(heads, dim))),
      /** Null if there are none, or they are not known. */
      rotary: maybe(rotary(dim ?? 0)),
    }),
);

export interface LayerInfo extends Read<typeof layer> {
  /**
   * By lens, the largest magnitude of the numbers of each head, or of the layer: of B − A, and of
   * lenses with a scale of their own. Missing or null where there are none.
   */
  readonly peaks?: Readonly<Record<string, readonly number[] | null | undefined>>;
}

/** A prompt as running text, and the answer to it: see `attnwidget/wire/running_text.py`. */
const runningText = (queries: number, keys: number) => {
  /** Two positions per token: its start and its end in a text; -1 for none. */
  const offsets = (tokens: number) => list(integer(-1), exactly(2 * tokens));
  const end = integer(1, keys);
  return also(
    fields({
      text: text(),
      /** The places of the keys in `text`. */
      offsets: offsets(keys),
      messages: list(
        where(fields({ role: text(), start: index, end }), ({ start, end }) =>
          start < end ? null : "",
        ),
      ),
      template: list(integer(0, keys - 1)),
      sentences: list(where(tuple(index, end), ([start, end]) => (start < end ? null : ""))),
      answer: maybe(
        also(fields({ text: text(), labels: list(text(), count) }), ({ labels: { length } }) =>
          fields({
            offsets: offsets(length),
            p: list(number, exactly(length)),
            likeliest: list(list(tuple(text(), number)), exactly(length)),
          }),
        ),
      ),
    }),
    ({ answer, sentences }) => {
      const rows = answer?.labels.length ?? queries;
      return fields({
        /** The query that wrote the first token of the answer, or is the first that is looked at. */
        first: integer(0, queries - rows),
        /** The effects of cutting parts, as far as a page has them; missing where none was measured. */
        cuts: optional(
          list(
            fields({
              /** The tokens of the part. */
              start: index,
              end: index,
              /** The keys of a region of an image, which are not in a row, as far as they are here. */
              keys: optional(list(index)),
              /** The heads whose links are cut, as [layer, head]; null for all. */
              heads: orNull(list(tuple(index, index))),
              /** The change of the log probability of each token of the answer, in nats. */
              changes: list(number, exactly(rows)),
              /** The answer that the model then writes; null if that was not asked for. */
              answer: orNull(text()),
            }),
          ),
        ),
        /** The shares that places get in other orders of the sentences, if a page has them. */
        shuffled: maybe(list(list(orNull(number), exactly(sentences.length)), exactly(rows))),
      });
    },
  );
};

export type RunningText = Read<ReturnType<typeof runningText>>;
export type MeasuredCut = NonNullable<RunningText["cuts"]>[number];

const stack = as(
  also(
    where(
      fields({
        name,
        queries: tokens,
        /** Null if the keys are the queries' own tokens. */
        keys: maybe(tokens),
        /** The number of evenly spaced queries behind thumbnails and metrics; null for all. */
        sampled: maybe(count),
        layers: list<LayerInfo>(layer, count),
      }),
      ({ layers }) => {
        const next = layers.findIndex(
          ({ number }, at) => at > 0 && number <= layers[at - 1].number,
        );
        return next >= 0 ? `.layers[${next}].number` : null;
      },
    ),
    ({ queries, keys }) =>
      fields({
        /** Null where there is none. */
        text: maybe(runningText(queries.labels.length, (keys ?? queries).labels.length)),
      }),
  ),
  ({ keys, ...others }) => ({ ...others, keys: keys ?? others.queries }),
);

export interface StackInfo extends Read<typeof stack> {
  /** The stacks of A and B, if this one is their difference. Missing for a record's own stack. */
  readonly difference?: readonly [a: StackInfo, b: StackInfo];
}

/** The layer of this number, or else the one before it, or else the first. */
export function layerOf({ layers }: Pick<StackInfo, "layers">, number: number): LayerInfo {
  return layers.filter((layer) => layer.number <= number).at(-1) ?? layers[0];
}

export interface Head {
  readonly layer: LayerInfo;
  readonly head: number;
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

/** True for the heads of a profile without a text, which stand over a token without a label. */
export const headsAlone = ({ texts, stacks }: Manifest): boolean =>
  texts !== null && !stacks[0].queries.labels.join("");

/** True if each query's row goes into the choice of the token after it. */
export const writesOn = (stack: StackInfo, texts: Texts): boolean =>
  typeof stack.queries.generated === "number" ||
  stack.name === "decoder" ||
  texts?.query === "decoder";

const why = fields({
  brief: text(),
  /** The reason, as said of a layer. */
  sentence: text(),
  layers: list(index, integer(0, MOST_HEADS)),
});

const ofLayer = () => list(number, exactly(1));

/** A lens, as `attnwidget/analysis/lenses` describes it: the numbers for queries and keys. */
const lens = (stacks: readonly StackInfo[]) =>
  also(
    fields({
      name,
      label: brief(text(0, 200)),
      /** "" for none. */
      description: text(),
      /** The words for one number and for several. */
      one: brief(text()),
      many: brief(text()),
      /** True if numbers below zero mean the opposite of those above. */
      signed: flag,
      digits: integer(0, MOST_DIGITS),
      /** "" for none. */
      unit: brief(text(0, 200)),
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
    ({ kind }) =>
      fields({
        /** The names of a factor, and of a weight times its factor; null for other kinds. */
        symbols: kind === "factors" ? tuple(brief(text()), brief(text())) : oneOf([null]),
        /** The largest magnitudes of heads or layers; null for shares of 1, and for what is computed. */
        peaks:
          kind === "factors"
            ? oneOf([null])
            : orNull(byLayer(kind === "layers" ? ofLayer : ofHeads(number), stacks)),
      }),
  );

/** Lenses in the order of menus, of which the first is attention. */
const lenses = (stacks: readonly StackInfo[]) =>
  where(list(lens(stacks), integer(1, MOST_LENSES)), (all) =>
    new Set(all.map(({ name }) => name)).size < all.length || all[0].kind !== "browser" ? "" : null,
  );

export type LensInfo = Omit<Read<ReturnType<typeof lens>>, "peaks">;

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

/** The same lens of layers without a softmax, whose own numbers are of either sign. */
const COEFFICIENTS: LensInfo = {
  ...ATTENTION,
  label: "Coefficients",
  description: "How much of each value the head takes, of either sign",
  one: "coefficient",
  many: "coefficients",
  signed: true,
};

/** The same of layers whose channels mix tokens each by itself. */
const CONTRIBUTIONS: LensInfo = {
  ...COEFFICIENTS,
  label: "Contributions",
  description: "The share of each key along the layer's output, of either sign: c · y / ‖y‖²",
  one: "contribution",
  many: "contributions",
};

export const isAttention = ({ name }: LensInfo): boolean => name === ATTENTION.name;

/** The lens as a stack is read by it. */
export const readBy = (lens: LensInfo, { layers }: Pick<StackInfo, "layers">): LensInfo =>
  isAttention(lens) && layers[0].signed
    ? { coefficients: COEFFICIENTS, contributions: CONTRIBUTIONS }[layers[0].signed]
    : lens;

/** The reason why a layer of a record's own stack lacks a lens; null if it has it. */
export const whyNot = (
  { why_not }: LensInfo,
  stack: string,
  layer: number,
): Read<typeof why> | null =>
  // A stack may be called "constructor".
  (Object.hasOwn(why_not, stack) && why_not[stack].find(({ layers }) => layers.includes(layer))) ||
  null;

/** True if pictures of a lens travel with the record. */
export const hasThumbnails = ({ kind }: LensInfo): boolean =>
  kind === "factors" || kind === "heads";

/** Values per head, by layer. */
export type ByHead<Value> = ReadonlyMap<LayerInfo, readonly Value[]>;

/** One value for each head of a layer. */
const ofHeads =
  <Value>(value: Reader<Value>) =>
  ({ heads }: LayerInfo) =>
    list(value, exactly(heads));

/** Values of layers, in their order. */
const perLayer = <Row>(layers: readonly LayerInfo[], row: (of: LayerInfo) => Reader<Row>) =>
  list((own, at) => row(layers[at])(own), exactly(layers.length));

/** @param required true if every stack needs values */
const byLayer =
  <Value>(
    row: (of: LayerInfo) => Reader<readonly Value[]>,
    stacks: readonly StackInfo[],
    required = false,
  ): Reader<ByHead<Value>> =>
  (sent) => {
    const present = stacks.filter(({ name }) => required || Object.hasOwn(Object(sent), name));
    const readers = present.map(({ name, layers }) => [name, perLayer(layers, row)] as const);
    const values = fields(Object.fromEntries(readers))(sent);
    return new Map(
      present.flatMap(({ name, layers }) =>
        layers.map((layer, at) => [layer, values[name][at]] as const),
      ),
    );
  };

/** Numbers per head, from the record or from the user. */
export const metrics = (stacks: readonly StackInfo[]) => {
  /** For the stacks that a metric applies to; null for no value. */
  const values = byLayer(ofHeads(orNull(number)), stacks);
  const metric = fields({
    /** The name in choices. */
    name,
    /** The name in full. */
    label: isolated(text(0, 200)),
    /** "" for none. */
    unit: isolated(text(0, 200)),
    /** The number of decimals. */
    digits: integer(0, MOST_DIGITS),
    /** True if zero is the middle of the colours. */
    signed: flag,
    /** The meanings of negative and of positive values. */
    directions: orNull(tuple(text(), text())),
    /** One sentence; "" for none. */
    description: text(),
    values,
    /** The same number for heads of a null, as "random weights". */
    null: maybe(fields({ label: name, values })),
    /** The ends of a confidence interval of each value. */
    interval: maybe(fields({ low: values, high: values })),
  });
  return list(metric, integer(0, MOST_METRICS));
};

export type Metric = Read<ReturnType<typeof metrics>>[number];

/** The metric of a head; null for no value. */
export const metricValue = (
  { values }: Pick<Metric, "values">,
  { layer, head }: Head,
): number | null => values.get(layer)?.[head] ?? null;

const place = tuple(number, number);
/** A head near another one: the number of its layer, its own, and the distance. */
const neighbour = tuple(number, number, number);

/** A place on the map of heads. */
export type Position = Read<typeof place>;

/** The similarity of heads: places on a map on which alike heads are near each other. */
export const similarity = (stacks: readonly StackInfo[]) => {
  const shape = fields({
    /** The distance between two heads, as "Jensen–Shannon distance". */
    label: text(0, 200),
    /** The share of the distances' variance that two dimensions keep; null if it is not known. */
    kept: orNull(number),
    places: byLayer(ofHeads(place), stacks),
    /** The nearest heads of each, the nearest first. */
    nearest: byLayer(ofHeads(list(neighbour, integer(0, MOST_NEAREST))), stacks),
  });
  return where(shape, ({ nearest }) => {
    const known = stacks.every(({ layers }) => {
      const heads = new Map(layers.map((layer) => [layer.number, layer.heads]));
      const named = layers.flatMap((layer) => nearest.get(layer) ?? []).flat();
      return named.every(([layer, head]) => isBelow(heads.get(layer) ?? 0, head));
    });
    return known ? null : ".nearest";
  });
};

const isBelow = (end: number, at: number) => Number.isInteger(at) && 0 <= at && at < end;

export type Similarity = Read<ReturnType<typeof similarity>>;

const arc = (stacks: readonly StackInfo[]) =>
  where(
    fields({
      stack: oneOf(stacks.map(({ name }) => name)),
      /** The first token and the one after the last, of both ends. */
      query: tuple(index, index),
      key: tuple(index, index),
      /** "" for none. */
      label: isolated(text(0, LONGEST_LABEL)),
      /** The side whose largest weight decides whether a head finds it. */
      by: side,
    }),
    ({ stack, query, key }) => {
      const { queries, keys } = stacks.find(({ name }) => name === stack) as StackInfo;
      const within = ([start, end]: readonly [number, number], { labels }: Tokens) =>
        start < end && end <= labels.length;
      return within(query, queries) && within(key, keys) ? null : "";
    },
  );

/** Links that somebody has annotated. */
export const arcs = (stacks: readonly StackInfo[]) => list(arc(stacks), integer(0, MOST_ARCS));

export type Arc = Read<ReturnType<typeof arc>>;

/** A number for every cell of a grid, as of patches; `GridScores` in Python says what each is. */
const scoreGrid = (stacks: readonly StackInfo[]) =>
  also(
    fields({
      name: isolated(text()),
      /** Its name, and where it was measured. */
      label: isolated(text()),
      description: isolated(text()),
      unit: isolated(text()),
      digits: integer(0, MOST_DIGITS),
      stack: oneOf(stacks.map(({ name }) => name)),
      /** The words for rows and columns; "" for one column alone. */
      axes: tuple(text(), oneOf(["head", "position", ""])),
      /** The label, layer and head of each; null where a row is of none. */
      rows: list(tuple(text(), orNull(index), orNull(index)), integer(1, MOST_CELLS)),
      columns: list(text(), integer(1, MOST_CELLS)),
    }),
    ({ rows, columns }) => {
      const values = list(list(orNull(number), exactly(columns.length)), exactly(rows.length));
      return fields({ values, null: maybe(fields({ label: name, values })) });
    },
  );

const scoreGrids = (stacks: readonly StackInfo[]) =>
  list(scoreGrid(stacks), integer(0, MOST_SCORE_GRIDS));

export type ScoreGrid = Read<ReturnType<typeof scoreGrid>>;

/** The place of a text, its rank from 0, its number, and the query and key of the head's strongest pair. */
const example = tuple(number, number, number, number, number);
/** The examples with the highest number, with that next to the median, and with the lowest. */
const exampleKinds = list(orNull(example), exactly(3));

/** The examples of heads: texts in which a number of a head is highest, usual, or lowest. */
export const examples = (stacks: readonly StackInfo[]) => {
  const shape = fields({
    /** The beginning of each text. */
    texts: list(text()),
    /** The number of texts among which they are highest, usual, or lowest. */
    num_texts: count,
    /** By the name of a metric. */
    metrics: as(
      record(byLayer(ofHeads(exampleKinds), stacks)),
      (of) => new Map(Object.entries(of)),
    ),
  });
  const known = where(shape, ({ texts, metrics }) => {
    const wrong = [...metrics].find(([, values]) =>
      [...values.values()].flat(2).some((each) => each && !isBelow(texts.length, each[0])),
    );
    return wrong ? `.metrics.${wrong[0]}` : null;
  });
  return as(known, ({ num_texts: count, texts, metrics }) => ({ texts, count, metrics }));
};

export type Examples = Read<ReturnType<typeof examples>>;

const kinds = fields({
  /** The words for the heads of each pattern. */
  kinds: list(text(), count),
});

/** The pattern of each head: what it looks at or rests on. */
const patterns = (stacks: readonly StackInfo[]) => {
  const said = optional(byLayer(ofHeads(isolated(text())), stacks, true));
  return also(kinds, ({ kinds }) =>
    fields({
      /** Indices into `kinds`. */
      values: byLayer(ofHeads(integer(0, kinds.length - 1)), stacks, true),
      /** Over many texts, the words for each head, and the rules with its numbers. */
      words: as(said, (sent) => sent ?? new Map()),
      reasons: as(said, (sent) => sent ?? new Map()),
    }),
  );
};

export type Patterns = Read<ReturnType<typeof patterns>>;

/** An example that the reader wants to see. */
export interface Opening {
  /** Its place among the texts. */
  readonly text: number;
  readonly stack: string;
  readonly layer: number;
  readonly head: number;
  readonly query: number;
}

/**
 * A lossy WebP file in base64, and its size in pixels. That stands at its beginning, so that a small
 * file cannot fill the memory when it is decoded.
 */
const image = where(
  as(text(0, LARGEST_IMAGE), (data) => {
    const head = /^[\w+/]{40}/.exec(data);
    const bytes = head ? atob(head[0]) : "";
    const side = (at: number) => (bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8)) & 0x3fff;
    const parts = [bytes.slice(0, 4), bytes.slice(8, 16), bytes.slice(23, 26)];
    const isKnown = parts.join() === "RIFF,WEBPVP8 ,\u009d\u0001\u002a";
    return { data, width: isKnown ? side(26) : 0, height: isKnown ? side(28) : 0 };
  }),
  ({ width, height }) =>
    [width, height].every((pixels) => pixels > 0 && pixels <= LARGEST_SIDE) ? null : "",
);

export type ImageFile = Read<typeof image>;

/** A layer without queries and keys. */
const WEIGHTS = {
  bare: true,
  program: null,
  recurrence: null,
  dim: null,
  rotary: null,
  sums: null,
} as const;

/** A stack of a comparison's first record, its partner of the second, and their difference. */
const comparedStack = (stacks: readonly StackInfo[]) => {
  const named = as(text(), (name) => stacks.find((stack) => stack.name === name));
  const sizes = ({ queries, keys, layers }: StackInfo) => [
    queries.labels.length,
    keys.labels.length,
    layers.map(({ number, heads, signed = null }) => [number, heads, signed]),
  ];
  // They have the same tokens, layers and heads.
  const sides = where(fields({ a: named, b: named }), ({ a, b }) =>
    a && b && a !== b && same(sizes(a), sizes(b)) ? null : "",
  ) as Reader<Readonly<Record<"a" | "b", StackInfo>>>;
  const pair = also(sides, ({ a: { layers } }) => {
    const peaks = ofHeads(number);
    return fields({
      /** The largest |B − A| of each head. */
      peaks: perLayer(layers, peaks),
      /** The same of other lenses; null for layers that one of both lacks. */
      lenses: record(perLayer(layers, (layer) => orNull(peaks(layer)))),
    });
  });
  return as(pair, ({ a, b, peaks, lenses }) => {
    const all = Object.entries({ ...lenses, [ATTENTION.name]: peaks });
    const layers = a.layers.map((layer, at) => ({
      ...layer,
      ...WEIGHTS,
      peaks: Object.fromEntries(all.map(([name, of]) => [name, of[at]])),
    }));
    const name = `${a.name}, B − A`;
    /** It is in no record: its layers have weights alone, B − A. */
    const difference: StackInfo = { ...a, text: null, name, difference: [a, b], layers };
    return { a, b, difference };
  });
};

export type ComparedStack = Read<ReturnType<typeof comparedStack>>;

/** Two records that are compared: the stacks of both are in one manifest. */
const compared = (stacks: readonly StackInfo[]) => {
  const shape = fields({
    stacks: list(comparedStack(stacks), count),
    /** The name of each record, such as its text or its model, in parts: every second one differs. */
    names: tuple(list(text(), count), list(text(), count)),
    /** The remark on how the tokens of both belong together, and that heads need not. */
    remark: text(),
  });
  const once = where(shape, ({ stacks: pairs }) => {
    const names = pairs.flatMap(({ a, b }) => [a, b]);
    return new Set(names).size === names.length ? null : ".stacks";
  });
  /** By the name of the first record's stack. */
  const byName = (pairs: readonly ComparedStack[]) =>
    new Map(pairs.map((pair) => [pair.a.name, pair]));
  return as(once, (sent) => ({ ...sent, stacks: byName(sent.stacks) }));
};

export type Compared = Read<ReturnType<typeof compared>>;

/** What a manifest says of a record, before the numbers of its heads. */
const about = where(
  fields({
    version: number,
    model: text(),
    /** Attention modules that are not in the record, as "module: reason". */
    missing: list(text()),
    stacks: list<StackInfo>(stack, count),
    /** The images that the model read. */
    images: list(image),
    /** The distance of the recorded pass's logits from the generation's, of a generated text. */
    replay: maybe(fields({ difference: number, reason: text() })),
    /**
     * The number of texts over which thumbnails and metrics are means, and to which patterns belong;
     * null if they are of this text alone.
     */
    texts: maybe(count),
  }),
  ({ stacks }) => {
    if (new Set(stacks.map(({ name }) => name)).size < stacks.length) return ".stacks";
    const heads = stacks.flatMap(({ layers }) => layers.map(({ heads }) => heads));
    return heads.reduce((sum, own) => sum + own, 0) > MOST_HEADS ? ".stacks" : null;
  },
);

/** A manifest of this version: what a record is, and numbers of its heads. */
export function manifest(sent: unknown) {
  const record = about(sent);
  const described = fields({ lenses: lenses(record.stacks) })(sent).lenses;
  const stacks = record.stacks.map((stack) => withPeaks(stack, described));
  const numbers = fields({
    metrics: metrics(stacks),
    patterns: patterns(stacks),
    /** Numbers of layers and positions that were measured beside the record. */
    grids: as(optional(scoreGrids(stacks)), (grids) => grids ?? []),
    /** Null for a single record. */
    compared: maybe(compared(stacks)),
  });
  const read = where(numbers, ({ metrics }) => {
    // Every stack needs a metric, the default of the model view.
    const all = stacks.every(({ layers }) => metrics.some(({ values }) => values.has(layers[0])));
    return all ? null : ".metrics";
  })(sent);
  return {
    ...record,
    stacks: stacks as readonly StackInfo[],
    /** In the order of menus; the first is attention. */
    lenses: described.map(({ peaks, ...lens }) => lens) as readonly LensInfo[],
    metrics: read.metrics,
    grids: read.grids,
    patterns: withDifferences(read.patterns, [...(read.compared?.stacks.values() ?? [])]),
    compared: read.compared,
  };
}

export type Manifest = Read<typeof manifest>;

/** A stack whose layers have the scales of the lenses. */
function withPeaks(stack: StackInfo, described: Read<ReturnType<typeof lenses>>): StackInfo {
  const scaled = described.filter(({ peaks }) => peaks);
  if (!scaled.length) return stack;
  const layers = stack.layers.map((layer) => ({
    ...layer,
    peaks: Object.fromEntries(scaled.map(({ name, peaks }) => [name, peaks?.get(layer)])),
  }));
  return { ...stack, layers };
}

/** The patterns, also of differences: they are coloured as A, and have words for both. */
function withDifferences(patterns: Patterns, pairs: readonly ComparedStack[]): Patterns {
  const [values, words] = [new Map(patterns.values), new Map(patterns.words)];
  const said = (layer: LayerInfo, head: number) =>
    words.get(layer)?.[head] ?? patterns.kinds[values.get(layer)?.[head] ?? 0];
  for (const { a, b, difference } of pairs) {
    difference.layers.forEach((layer, at) => {
      const own = values.get(a.layers[at]) ?? [];
      const both = own.map((_, head) => {
        const [before, after] = [said(a.layers[at], head), said(b.layers[at], head)];
        return before === after ? before : `${before} in A, ${after} in B`;
      });
      values.set(layer, own);
      words.set(layer, both);
    });
  }
  return { ...patterns, values, words };
}

/** The number of the grid that is shown: the one chosen, or else the whole image, or the first. */
export function gridShown({ patches }: Tokens, chosen: number | null): number {
  const { grids } = patches ?? { grids: [] };
  if (chosen !== null && chosen < grids.length) return chosen;
  return Math.max(
    0,
    grids.findIndex(({ name }) => name.endsWith("whole")),
  );
}

/** One of the grids on which tokens lie; null if there is none to show. */
export function gridOf({ images }: Manifest, { patches }: Tokens, at: number): Patches | null {
  const grid = patches?.grids[at];
  const image = grid && images[grid.image];
  if (!patches || !image) return null;
  const [left, top, right, bottom] = grid.box;
  return {
    ...grid,
    of: patches.of.map((patch, token) => (patches.on[token] === at ? patch : null)),
    aspect: ((right - left) * image.width) / ((bottom - top) * image.height),
  };
}

/** The chosen grid of either side of a stack; null if neither has one to show. */
export function patchesOn(
  manifest: Manifest,
  stack: Pick<StackInfo, "queries" | "keys">,
  chosen: number | null,
): Readonly<Record<Side, Patches | null>> | null {
  const on = (tokens: Tokens) => gridOf(manifest, tokens, gridShown(tokens, chosen));
  const key = on(stack.keys);
  const query = stack.queries === stack.keys ? key : on(stack.queries);
  return query || key ? { query, key } : null;
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
