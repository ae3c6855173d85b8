/** The text view: a prompt as running text, its answer, and what the answer was written from. */

import { batch, computed, type Signal, signal } from "@preact/signals-core";
import type { RunningText } from "../../data/manifest.ts";
import { isAttention } from "../../data/manifest.ts";
import { layerNumber } from "../../data/pairing.ts";
import type { TextShares } from "../../data/stack-store.ts";
import { lensMatrix } from "../../lenses/index.ts";
import { type Bound, choice, optionsOf, toggle } from "../../parts/choice.ts";
import { el, replaceContent, revealWithin } from "../../parts/dom.ts";
import { counted, hint, percent, strong, weight } from "../../parts/text.ts";
import { attentionOf, textLens } from "../../state/lens.ts";
import { lock } from "../../state/locks.ts";
import type { State } from "../../state/state.ts";
import { largestOn } from "../shared/picture/shade.ts";
import { weighting } from "../shared/tools.ts";
import { type Context, figureOf, type View, type ViewContent } from "../shared/view.ts";
import { legendLine, tableOf } from "../shared/words.ts";
import { carrierList, headsOf } from "./carriers.ts";
import { checkOfHeads } from "./check.ts";
import { byNumber, changeOf, cutting, nats } from "./cutting.ts";
import { dock } from "./dock.ts";
import { imagesOf, type PromptImage, placeOf } from "./images.ts";
import { partHeads } from "./part-heads.ts";
import { partList, unmeasured } from "./parts.ts";
import type { Region, Veil } from "./picture.ts";
import { player } from "./player.ts";
import type { Tokens } from "./prose.ts";
import { reader } from "./reader.ts";
import {
  type Beside,
  carriers,
  isMarked,
  keysOf,
  lookersAt,
  lookOf,
  type Part,
  partAt,
  partsOf,
  type Span,
} from "./shares.ts";
import { strip } from "./strip.ts";
import { strongestPatches } from "./strongest.ts";
import { withoutPart } from "./without.ts";

const NO_SHARES =
  "Running text shows shares of attention, and these layers have signed coefficients: choose layers with a softmax.";
const NO_TEXT =
  "Nothing was generated here and the text is no chat and no pair, or the places of its tokens are not known: capture with generate=, or pass messages, with a fast tokenizer.";

const COMPARED = "Running texts of two records are not compared: show one of them.";

const NO_LAYERS =
  "The heads of this part need all layers: save this with layers=, or open it in a notebook.";

/** Beside the reader from so many CSS pixels on. */
const BESIDE = 900;

const LEVELS = {
  sentences: "Sentences",
  paragraphs: "Paragraphs",
  messages: "Messages",
  named: "Named segments",
} as const;
const NULLS = {
  even: "Even share",
  shuffled: "Shuffled sentences",
  rest: "Rest of the answer",
} as const;

const TWICE = {
  even: "an even share",
  shuffled: "what its place gets in other orders of the sentences",
  rest: "the rest of the answer",
} as const;

/** The reader's choices that this view alone has. */
interface Own {
  /** The current head in place of the mean of all. */
  readonly alone: Signal<boolean>;
  readonly beside: Signal<Beside>;
  /** True if sinks count as any other token. */
  readonly sinks: Signal<boolean>;
  /** A part of the reader's own, and whether it is locked, or cut. */
  readonly part: Signal<
    (Tokens & { readonly stack: string; readonly region?: Region | undefined }) | null
  >;
  readonly locked: Signal<boolean>;
  readonly cut: Signal<boolean>;
}

export function textView(context: Context): View {
  const { scope, state, store } = context;
  const own: Own = {
    alone: signal(false),
    beside: signal<Beside>("even"),
    sinks: signal(false),
    part: signal(null),
    locked: signal(false),
    cut: signal(false),
  };
  const { alone } = own;
  const lens = weighting(scope, state, store);
  const element = el("div", { class: "text-view" });
  const content = signal<ViewContent | null>(null);
  scope.scopedEffect((inner) => {
    const stack = state.shown.stack.value;
    const { text } = stack;
    const waiting = (message: string) => {
      content.value = null;
      replaceContent(element, el("p", { class: "notice" }, message));
    };
    if (stack.difference) return waiting("The running text is that of A or of B: choose one.");
    if (stack.layers[0].signed) return waiting(NO_SHARES);
    if (!text) return waiting(store.manifest.compared ? COMPARED : NO_TEXT);
    const loaded = context.store.stack(stack.name).text().value;
    if (loaded.status === "failed") return waiting(loaded.message);
    if (loaded.status === "loading") return waiting("Waiting for the running text.");
    const level = state.parts.value;
    const images = imagesOf(store.manifest, text, stack.keys);
    const parts = [...partsOf(text, level, state.named_segments.value, images)];
    const mine = own.part.value;
    if (mine?.stack === stack.name) {
      const { start, end, region } = mine;
      const made = partAt(text, region?.name ?? "your part", start, end, images);
      const words = region && { keys: region.keys, words: "", sentences: null };
      parts.push(...made.map((each) => ({ ...each, ...words })));
    }
    const shown = runningText({ ...context, scope: inner }, text, parts, images, loaded.data, own);
    content.value = shown;
    replaceContent(element, shown.element);
  });
  return {
    element,
    tools: [
      toggle(scope, "Head alone", "Show the current head in place of the mean of all", alone),
      lens.control,
      choice(
        scope,
        "Parts",
        () =>
          optionsOf<"parts">(LEVELS).filter(
            ({ value }) => value !== "named" || state.named_segments.value.length,
          ),
        state.parts,
      ),
      choice(
        scope,
        "Beside",
        () => {
          const { name, text } = state.shown.stack.value;
          const known = store.source.cuts || store.stack(name).shuffled.value;
          return Object.entries(NULLS).map(([value, label]) => ({
            ...{ value, label },
            off: value !== "even" && (!text?.answer || (value === "shuffled" && !known)),
          }));
        },
        own.beside,
      ),
    ],
    status: computed(() => content.value?.status.value ?? []),
    legend: computed(() => content.value?.legend.value ?? []),
    tables: computed(() => content.value?.tables.value ?? []),
    figure: () => content.peek()?.figure() ?? null,
    keys: { v: lens.next },
    idle: computed(() => {
      const why = alone.value ? "" : "All heads of all layers are shown as one";
      return { layer: why, head: why };
    }),
  };
}

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
  return {
    get value() {
      return now.value;
    },
    set value(span) {
      const key = state.key.peek();
      const [from, to] = span ?? [0, 0];
      const others = Array.from({ length: to - from }, (_, at) => first + from + at);
      lock(state, { query: span && first + to, key }, others);
    },
  };
}

function runningText(
  context: Context,
  text: RunningText,
  parts: readonly Part[],
  images: readonly PromptImage[],
  loaded: TextShares,
  own: Own,
): ViewContent {
  const { scope, state, store } = context;
  const stack = state.shown.stack.peek();
  const rows = text.answer?.labels.length ?? stack.queries.labels.length;
  const labels = text.answer?.labels ?? stack.queries.labels;
  const tokens = stack.keys.labels.length;
  const mine = own.part.peek()?.stack === stack.name ? parts.length - 1 : -1;
  const span = lockedRows(state, text.first, rows);
  const part = byNumber(state.part, (index) => index < parts.length, mine, own.locked);
  const [hovered, pointed] = [signal<number | null>(null), signal<number | null>(null)];
  const shown = computed((): Span => {
    const at = hovered.value;
    return at === null ? (span.value ?? [0, rows - 1]) : [at, at];
  });
  const layer = computed(() => {
    if (!own.alone.value) return null;
    const loaded = store.stack(stack.name).layer(state.shown.layer.value.number).value;
    return loaded.status === "ready" ? loaded.data.whole : null;
  });
  const head = state.shown.head;
  const lens = computed(() => {
    const chosen = textLens(state);
    return loaded.ofLenses.has(chosen.name) ? chosen : attentionOf(state);
  });
  const shares = computed(() => ({ ...loaded, ...loaded.ofLenses.get(lens.value.name) }));
  const row = computed(() => {
    const [one, { mean }] = [layer.value, shares.value];
    const matrix = one && lensMatrix(lens.value, one, head.value);
    return (n: number) =>
      matrix?.row(text.first + n) ?? mean.subarray(n * tokens, (n + 1) * tokens);
  });
  const none = new Float32Array(tokens);
  const look = computed(() => {
    const kinds = own.sinks.value ? none : loaded.sinks;
    // Other orders were read without sinks, by the mean of all heads' attention.
    const differs = own.sinks.value || layer.value || !isAttention(lens.value);
    const shuffled = differs ? null : store.stack(stack.name).shuffled.value;
    const measure = { kinds, parts, rows, beside: own.beside.value, shuffled };
    const isPatch = (key: number) => (stack.keys.patches?.on[key] ?? -1) >= 0;
    const looked = { text, labels: stack.keys.labels, isPatch, ...measure };
    return lookOf(looked, row.value, shown.value);
  });
  const onImages = images
    .flatMap((image) => keysOf(image))
    .filter((key) => stack.keys.patches?.of[key] != null);
  const weights = computed(() =>
    look.value.weights.map((weight, key) => (look.value.counted[key] ? weight : 0)),
  );
  const veil: Veil = {
    look,
    weights,
    largest: computed(() => largestOn(weights.value, onImages, [])),
    patch: signal(null),
    region: signal(null),
  };
  const linked = computed(() => pointed.value ?? part.value ?? look.value.parts[0]?.index ?? null);
  // Of parts that are no whole sentences, heads are read from all layers, once they are looked at.
  const others = parts.filter(({ sentences }) => !sentences);
  const ofOthers = signal<Float32Array | null>(null);
  const ofHeadsNote = el("p", { class: "note", role: "status" });
  let isAsked = false;
  scope.effect(() => {
    const at = linked.value;
    const isOther = at !== null && !parts[at].sentences;
    ofHeadsNote.hidden = !isOther || Boolean(ofOthers.value);
    if (!isOther || isAsked) return;
    isAsked = true;
    const keysCounted = (part: Part) =>
      keysOf(part).filter((key) => !loaded.sinks[key] && !text.template.includes(key));
    ofHeadsNote.textContent = "Reading all layers …";
    const source = store.stack(stack.name);
    partHeads(source, others.map(keysCounted), text.first, rows, scope.signal).then(
      (all) => {
        ofOthers.value = all;
        if (!all) ofHeadsNote.textContent = NO_LAYERS;
      },
      (error) => {
        ofHeadsNote.textContent = error.message;
      },
    );
  });
  const found = computed(() => {
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
  });
  // The other way round: without a token, a locked part shows which words look at it.
  const isOther = computed(() => part.value !== null && !span.value && hovered.value === null);
  const lookers = computed(() => {
    const at = part.value;
    if (!isOther.value || at === null) return null;
    const { shares: all, even } = lookersAt(look.value, parts[at], rows, row.value);
    const most = Math.max(...all) - even;
    return all.map((share) => (share > even ? Math.sqrt((share - even) / (most || 1)) : 0));
  });
  const pointing = computed(() => hovered.value !== null || pointed.value !== null);
  const heads = headsOf(stack);
  const cuts = cutting(context, parts, Boolean(text.answer), mine, own.cut);
  scope.effect(() => {
    if (own.beside.value === "shuffled") cuts.shuffle();
  });
  const named = computed(() => {
    const [first, last] = shown.value;
    const { answer } = text;
    if (rows > 1 && first === 0 && last === rows - 1)
      return `the whole ${answer ? "answer" : "text"}`;
    const places = answer?.offsets.slice(2 * first, 2 * last + 2).filter((place) => place >= 0);
    const written = places?.length && answer?.text.slice(places[0], places.at(-1)).trim();
    return `“${written || labels.slice(first, last + 1).join(" ")}”`;
  });
  const ofHeads = computed(() => {
    const by = isAttention(lens.value) ? "" : `${lens.value.label.toLowerCase()}, `;
    return layer.value
      ? `${by}head ${layerNumber(state.shown.layer.value)}-${head.value}`
      : `${by}mean of ${counted(heads.length, "head")}${own.alone.value ? ", this layer is not here" : ""}`;
  });
  const title = el("p", { class: "title" });
  const sinks = el("p", { class: "sinks" });
  const countThem = toggle(scope, "Count them", "Shade sinks as any other token", own.sinks);
  countThem.className = "count-sinks";
  const bar = el("div", { class: "message-bar", "aria-hidden": "true" });
  const barText = el("p", { class: "note" });
  const linkTitle = el("p", { class: "title" });
  const verb = text.answer ? "was written from" : "looks at";
  scope.effect(() => {
    const now = look.value;
    const [even, most] = [now.even.toPrecision(1), now.largest.toPrecision(2)];
    const shades = images.length
      ? `even ${even} to ${most} · image: √weight to ${veil.largest.value.toPrecision(2)}`
      : `from an even share, ${even}, to ${most}`;
    title.replaceChildren(
      ...(isOther.value
        ? [
            "Which words look at ",
            el("strong", {}, parts[part.value ?? 0].name),
            ` · ${ofHeads.value} · shade: from an even share`,
          ]
        : [
            "What ",
            el("strong", {}, named.value),
            ` ${verb} · ${ofHeads.value} · shade: ${shades}`,
          ]),
    );
    title.title = title.textContent;
    const all = now.sinks.reduce((sum, { share }) => sum + share, 0);
    const chips = now.sinks.map(({ label, keys, share }) =>
      el(
        "span",
        { class: "chip" },
        `${label}${keys.length > 1 ? ` ×${keys.length}` : ""} `,
        el("b", {}, percent(share)),
      ),
    );
    sinks.replaceChildren(
      own.sinks.value ? "Sinks are counted " : `${percent(all)} on sinks, left out: `,
      ...chips,
      countThem,
    );
    const pieces = [
      ...text.messages.flatMap(({ role, start, end }, at) =>
        now.counted.slice(start, end).some(Boolean)
          ? [{ name: role || "text", share: now.messages[at] }]
          : [],
      ),
      ...(text.answer ? [{ name: "answer so far", share: now.answer }] : []),
    ];
    bar.replaceChildren(
      ...pieces.map(({ share }) => {
        const piece = el("i", {});
        piece.style.flexGrow = `${share}`;
        return piece;
      }),
    );
    barText.textContent = pieces.map(({ name, share }) => `${name} ${percent(share)}`).join(" · ");
    linkTitle.replaceChildren(
      el("strong", {}, "Which heads look at it"),
      linked.value === null ? "" : ` ${named.value} → ${parts[linked.value].name}`,
    );
  });
  const make = (tokens: Tokens | null, region?: Region) => {
    const root = element.parentElement;
    batch(() => {
      part.value = null;
      own.locked.value = tokens !== null;
      own.part.value = tokens && { ...tokens, region, stack: stack.name };
    });
    // All is new, and the focus stays where it was needed.
    const to = tokens ? `[data-part="${mine < 0 ? parts.length : mine}"]` : ".reader";
    root?.querySelector<HTMLElement>(to)?.focus({ preventScroll: true });
  };
  const reading = { text, parts, look, part, pointed, without: cuts.without, make, images, veil };
  const { element: prompt, take } = reader(context, reading);
  const left = el(
    "div",
    { class: "left" },
    title,
    sinks,
    el("div", { class: "prompt" }, prompt, strip(context, look, prompt)),
    el(
      "div",
      { class: "docked" },
      dock(context, { text, labels, span, hovered, cutting: cuts, lookers }),
      text.answer ? player(scope, text.answer, span, named) : "",
      withoutPart(scope, text, cuts, shown, parts),
    ),
  );
  const remove = mine < 0 ? null : () => make(null);
  const lists = { text, parts, remove, look, part, pointed, span: shown, cutting: cuts };
  const right = el(
    "div",
    { class: "right" },
    el(
      "p",
      { class: "title" },
      el("strong", {}, "Where it looks"),
      " of the attention beyond sinks",
    ),
    bar,
    barText,
    partList(scope, lists),
    images.some(({ grids }) => grids.length)
      ? strongestPatches(
          context,
          images,
          veil,
          computed(() => (linked.value === null ? null : parts[linked.value])),
        )
      : "",
    linkTitle,
    ofHeadsNote,
    carrierList(context, heads, { found, alone: own.alone }),
    checkOfHeads(context, heads, { found, linked, span: shown, pointing, cutting: cuts, parts }),
  );
  const element = el("div", { class: "text-columns" }, left, right);
  // Only what is locked scrolls the prompt, so that it stays under a pointer that moves.
  scope.effect(() => {
    const marked = span.value && look.peek().parts.find(isMarked);
    if (!marked) return;
    const number = left.querySelector(`[data-number="${marked.index + 1}"]`);
    if (number) revealWithin(left.closest(".body"), number);
  });
  scope.effect(() => {
    element.classList.toggle("beside", context.width.value >= BESIDE);
  });
  const keys: Readonly<Record<string, () => void>> = {
    k: () => {
      const at = linked.peek();
      if (at !== null && (cuts.live || cuts.cuts.peek()[at])) cuts.toggle(at);
    },
    e: () => cuts.measure(unmeasured(cuts)),
    p: take,
  };
  element.addEventListener("keydown", (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (plain && Object.hasOwn(keys, event.key)) {
      event.stopPropagation();
      keys[event.key]();
    }
    const drawn = veil.region.value;
    if (event.key !== "Escape" || !(drawn || part.value !== null || span.value)) return;
    event.stopPropagation();
    if (drawn) veil.region.value = null;
    else if (part.value !== null) part.value = null;
    else span.value = null;
  });
  return {
    element,
    status: computed(() => {
      const now = look.value;
      const at = linked.value;
      const on = veil.patch.value;
      if (on !== null) {
        const drawn = veil.region.value;
        return [
          strong(`${named.value} → ${placeOf(images, on)}`),
          `  ${weight(now.weights[on])}${now.counted[on] ? "" : ", a sink"}`,
          drawn ? ` · ${drawn.name}` : "",
          hint(drawn ? " · Enter or p makes it a part" : ""),
        ];
      }
      const link = now.parts.find(({ index }) => index === at);
      if (!link || at === null) return [strong(named.value)];
      const cut = changeOf(cuts.cuts.value[at], shown.value);
      return [
        strong(`${named.value} → ${parts[at].name}`),
        `  ${percent(link.share)} of what the prompt gets beyond sinks${link.beside === null ? "" : ` · ${now.beside} ${percent(link.beside)}`}`,
        cut === null ? "" : ` · if cut ${nats(cut)}`,
        hint(" · Esc releases"),
      ];
    }),
    legend: computed(() =>
      legendLine(
        [],
        [
          `bold: at least twice ${TWICE[look.value.beside]}`,
          text.answer && "line below a token: its probability",
          "dotted: sinks, a heuristic",
          "attention is no proof of use: cut it to know",
        ],
      ),
    ),
    tables: computed(() => [
      tableOf("Where it looks", look.value.parts, () => [
        { name: "part", of: ({ index }) => parts[index].name },
        { name: "text", of: ({ index }) => parts[index].words },
        { name: "share", of: ({ share }) => share },
        { name: look.value.beside, of: ({ beside }) => beside ?? Number.NaN },
        {
          name: "if cut",
          of: ({ index }) => changeOf(cuts.cuts.value[index], shown.value) ?? Number.NaN,
        },
      ]),
    ]),
    // Its title says what it is.
    figure: () => figureOf(store.manifest, "text", stack),
  };
}
