/** A running text as it is read: the tokens and the part that are looked at, and what follows. */

import { batch, computed, type Signal, signal } from "@preact/signals-core";
import { pauses } from "../../data/combine.ts";
import { type Head, isAttention, type RunningText, type StackInfo } from "../../data/manifest.ts";
import { layerNumber } from "../../data/pairing.ts";
import type { StackStore, TextShares } from "../../data/stack-store.ts";
import { lensMatrix } from "../../lenses/index.ts";
import { type Bound, bound } from "../../parts/choice.ts";
import { counted } from "../../parts/text.ts";
import { attentionOf, textLens } from "../../state/lens.ts";
import { lock } from "../../state/locks.ts";
import type { State } from "../../state/state.ts";
import { largestOn } from "../shared/picture/shade.ts";
import type { Context } from "../shared/view.ts";
import { cutting } from "./cutting.ts";
import type { PromptImage } from "./images.ts";
import type { Tokens } from "./prose.ts";
import {
  type Beside,
  carriers,
  keysOf,
  lookersAt,
  lookOf,
  type Part,
  type Region,
  type Span,
} from "./shares.ts";

const NO_LAYERS =
  "The heads of this part need all layers: save this with layers=, or open it in a notebook.";

type Own = ReturnType<typeof ownChoices>;

/** The reader's choices that this view alone has. */
export const ownChoices = () => ({
  /** The current head in place of the mean of all. */
  alone: signal(false),
  beside: signal<Beside>("even"),
  /** True if sinks count as any other token. */
  sinks: signal(false),
  /** A part of the reader's own, and whether it is locked, or cut. */
  part: signal<(Tokens & { readonly stack: string; readonly region?: Region | undefined }) | null>(
    null,
  ),
  locked: signal(false),
  cut: signal(false),
});

export type Reading = ReturnType<typeof readingOf>;

export function readingOf(
  context: Context,
  text: RunningText,
  parts: readonly Part[],
  images: readonly PromptImage[],
  loaded: TextShares,
  own: Own,
) {
  const { scope, state, store } = context;
  const stack = state.shown.stack.peek();
  const source = store.stack(stack.name);
  const heads = headsOf(stack);
  const { answer } = text;
  /** The labels of the rows: of the answer, or of all tokens where nothing was generated. */
  const labels = answer?.labels ?? stack.queries.labels;
  const rows = labels.length;
  const tokens = stack.keys.labels.length;
  /** The number of the reader's own part, which is the last; -1 without one. */
  const mine = own.part.peek()?.stack === stack.name ? parts.length - 1 : -1;
  /** The rows that are locked, and the one that is pointed at. */
  const span = lockedRows(state, text.first, rows);
  const hovered = signal<number | null>(null);
  /** The rows that are looked at. */
  const shown = computed((): Span => {
    const at = hovered.value;
    return at === null ? (span.value ?? [0, rows - 1]) : [at, at];
  });
  /** The part that is locked, and the one that is pointed at. */
  const part = byNumber(state.part, parts.length, mine, own.locked);
  const pointed = signal<number | null>(null);
  const cut = byNumber(state.cut_part, parts.length, mine, own.cut);
  const cuts = cutting(context, parts, Boolean(answer), cut);
  scope.effect(() => {
    if (own.beside.value === "shuffled") cuts.shuffle();
  });
  // Of parts within others, the smallest is pointed at.
  const bySize = parts
    .map((each, index) => ({ each, index, keys: new Set(keysOf(each)) }))
    .sort((a, b) => a.keys.size - b.keys.size);

  const layer = computed(() => {
    if (!own.alone.value) return null;
    const loaded = source.layer(state.shown.layer.value.number).value;
    return loaded.status === "ready" ? loaded.data.whole : null;
  });
  const lens = computed(() => {
    const chosen = textLens(state);
    return loaded.ofLenses.has(chosen.name) ? chosen : attentionOf(state);
  });
  const shares = computed(() => loaded.ofLenses.get(lens.value.name) ?? loaded);
  /** The weights of a row. */
  const row = computed(() => {
    const [one, { mean }] = [layer.value, shares.value];
    const matrix = one && lensMatrix(lens.value, one, state.shown.head.value);
    return (n: number) =>
      matrix?.row(text.first + n) ?? mean.subarray(n * tokens, (n + 1) * tokens);
  });
  const none = new Float32Array(tokens);
  const look = computed(() => {
    const kinds = own.sinks.value ? none : loaded.sinks;
    // Other orders were read without sinks, by the mean of all heads' attention.
    const differs = own.sinks.value || layer.value || !isAttention(lens.value);
    const shuffled = differs ? null : source.shuffled.value;
    const measure = { kinds, parts, rows, beside: own.beside.value, shuffled };
    const isPatch = (key: number) => (stack.keys.patches?.on[key] ?? -1) >= 0;
    const looked = { text, labels: stack.keys.labels, isPatch, ...measure };
    return lookOf(looked, row.value, shown.value);
  });
  const onImages = images.flatMap(keysOf).filter((key) => stack.keys.patches?.of[key] != null);
  const weights = computed(() =>
    look.value.weights.map((weight, key) => (look.value.counted[key] ? weight : 0)),
  );
  /** The part whose link is looked at. */
  const linked = computed(() => pointed.value ?? part.value ?? look.value.parts[0]?.index ?? null);

  // Of parts that are no whole sentences, heads are read from all layers, once they are looked at.
  const others = parts.filter(({ sentences }) => !sentences);
  const ofOthers = signal<Float32Array | null>(null);
  const waiting = signal("");
  const isOther = computed(() => linked.value !== null && !parts[linked.value].sentences);
  scope.effect(() => {
    if (!isOther.value || waiting.peek() || ofOthers.peek()) return;
    waiting.value = "Reading all layers …";
    const keysCounted = (part: Part) =>
      keysOf(part).filter((key) => !loaded.sinks[key] && !text.template.includes(key));
    partHeads(source, others.map(keysCounted), text.first, rows, scope.signal).then(
      (all) => {
        ofOthers.value = all;
        waiting.value = "";
      },
      (error) => {
        waiting.value = error.message;
      },
    );
  });
  return {
    text,
    parts,
    images,
    stack,
    heads,
    labels,
    mine,
    alone: own.alone,
    sinksCount: own.sinks,
    lens,
    /** The whole of which the shares of parts are, in words. */
    ofWhat: computed(() =>
      own.sinks.value ? "of what the prompt's text gets" : "of what the prompt gets beyond sinks",
    ),
    span,
    hovered,
    shown,
    part,
    /** Locks a part, or releases it. */
    lockPart(index: number | null): void {
      part.value = part.value === index ? null : index;
    },
    pointed,
    bySize,
    /** The smallest part with a token; null for none. */
    partOf: (token: number) => bySize.find(({ keys }) => keys.has(token))?.index ?? null,
    /** How parts are outlined. */
    outlines: computed(() => {
      const { accent, muted, negative } = context.palette.value;
      return [
        { index: part.value, color: accent, width: 1.5, dash: [] },
        { index: cuts.without.value, color: negative, width: 1.5, dash: [4, 3] },
        { index: pointed.value, color: muted, width: 1, dash: [] },
      ].map(({ index, ...line }) => ({ ...line, part: index === null ? null : parts[index] }));
    }),
    linked,
    /** True while the link is one that is pointed at. */
    pointing: computed(() => hovered.value !== null || pointed.value !== null),
    cutting: cuts,
    look,
    /** The weights of tokens, 0 for sinks, and the largest of a patch. */
    weights,
    largest: computed(() => largestOn(weights.value, onImages, [])),
    /** The token of the patch at which the reader is, and the region that is being drawn. */
    patch: signal<number | null>(null),
    region: signal<Region | null>(null),
    /** Every head's attention on the part; null where none can be told, and why. */
    found: computed(() => {
      const at = linked.value;
      if (at === null) return null;
      const { sentences } = parts[at];
      if (sentences) {
        return carriers(shares.value.shares, rows, text.sentences.length, sentences, shown.value);
      }
      // They are of attention.
      if (!isAttention(lens.value)) return null;
      const [all, n] = [ofOthers.value, others.indexOf(parts[at])];
      return all && carriers(all, rows, others.length, [n, n + 1], shown.value);
    }),
    notFound: computed(() => (isOther.value ? waiting.value : "")),
    /**
     * The other way round: by row, from 0 to 1, how much it looks at the locked part; null where
     * tokens are looked at.
     */
    lookers: computed(() => {
      const at = part.value;
      if (at === null || span.value || hovered.value !== null) return null;
      const { shares: all, even } = lookersAt(look.value, parts[at], rows, row.value);
      const most = Math.max(...all) - even;
      return all.map((share) => (share > even ? Math.sqrt((share - even) / (most || 1)) : 0));
    }),
    /** The rows that are looked at, in words. */
    named: computed(() => {
      const [first, last] = shown.value;
      if (rows > 1 && first === 0 && last === rows - 1)
        return `the whole ${answer ? "answer" : "text"}`;
      const places = answer?.offsets.slice(2 * first, 2 * last + 2).filter((place) => place >= 0);
      const written = places?.length && answer?.text.slice(places[0], places.at(-1)).trim();
      return `“${written || labels.slice(first, last + 1).join(" ")}”`;
    }),
    ofHeads: computed(() => {
      const by = isAttention(lens.value) ? "" : `${lens.value.label.toLowerCase()}, `;
      return layer.value
        ? `${by}head ${layerNumber(state.shown.layer.value)}-${state.shown.head.value}`
        : `${by}mean of ${counted(heads.length, "head")}${own.alone.value ? ", this layer is not here" : ""}`;
    }),
    /** Makes some tokens a part, in a row or of a region; null takes the reader's own away. */
    make(tokens: Tokens | null, region?: Region): void {
      batch(() => {
        part.value = null;
        own.locked.value = tokens !== null;
        own.part.value = tokens && { ...tokens, region, stack: stack.name };
      });
    },
  };
}

/**
 * Every head's attention on parts that are no whole sentences, by all layers in turn.
 *
 * @param parts the keys of each that count
 * @param first the first row
 * @returns [rows, parts, heads]
 */
async function partHeads(
  store: StackStore,
  parts: readonly (readonly number[])[],
  first: number,
  rows: number,
  signal: AbortSignal,
): Promise<Float32Array> {
  const { layers } = store.info;
  const all = layers.reduce((sum, { heads }) => sum + heads, 0);
  const found = new Float32Array(rows * parts.length * all);
  const pause = pauses();
  let at = 0;
  for (const { number, heads } of layers) {
    const layer = (await store.fetch(number, signal))?.whole;
    if (!layer) throw new Error(NO_LAYERS);
    for (let head = 0; head < heads; head++, at++) {
      for (let row = 0; row < rows; row++) {
        const weights = layer.weightRow(head, first + row);
        parts.forEach((keys, part) => {
          const sum = keys.reduce((total, key) => total + weights[key], 0);
          found[(row * parts.length + part) * all + at] = sum;
        });
      }
      await pause();
      signal.throwIfAborted();
    }
  }
  return found;
}

/** The heads of all layers, in order. */
const headsOf = ({ layers }: StackInfo): readonly Head[] =>
  layers.flatMap((layer) => Array.from({ length: layer.heads }, (_, head) => ({ layer, head })));

/** The rows that are locked, as the first and the last of those of the text: all views have them. */
function lockedRows(state: State, first: number, rows: number): Bound<Span | null> {
  const now = computed((): Span | null => {
    const query = state.query.value;
    if (query === null) return null;
    const all = [query, ...state.also.value].map((at) => at - first).sort((a, b) => a - b);
    const inside = all.every((row) => row >= 0 && row < rows);
    const isSpan = all.every((row, at) => row === all[0] + at);
    if (inside && isSpan) return [all[0], all[all.length - 1]];
    return query >= first && query < first + rows ? [query - first, query - first] : null;
  });
  return bound(
    () => now.value,
    (span) => {
      const key = state.key.peek();
      const [from, to] = span ?? [0, 0];
      const others = Array.from({ length: to - from }, (_, at) => first + from + at);
      lock(state, { query: span && first + to, key }, others);
    },
  );
}

/**
 * A choice of one of so many parts by its number from 1, as an index; null where there is none.
 *
 * @param mine the index of a part of the reader's own, which no other view knows; -1 for none
 * @param isMine true where that is chosen
 */
const byNumber = (
  choice: Signal<number | null>,
  count: number,
  mine: number,
  isMine: Signal<boolean>,
): Bound<number | null> =>
  bound(
    () => {
      const index = choice.value === null ? null : choice.value - 1;
      if (index === null) return mine >= 0 && isMine.value ? mine : null;
      return index !== mine && index < count ? index : null;
    },
    (index) =>
      batch(() => {
        isMine.value = index !== null && index === mine;
        choice.value = index === null || index === mine ? null : index + 1;
      }),
  );
