/** The text view: a prompt as running text, its answer, and what the answer was written from. */

import { computed, signal } from "@preact/signals-core";
import { layerNumber } from "../../data/pairing.ts";
import { toggle } from "../../parts/choice.ts";
import { el, replaceContent } from "../../parts/dom.ts";
import { hint, strong } from "../../parts/text.ts";
import { type Context, figureOf, type View, type ViewContent } from "../shared/view.ts";
import { legendLine, tableOf } from "../shared/words.ts";
import { carrierList, headsOf } from "./carriers.ts";
import { checkOfHeads } from "./check.ts";
import { cutting } from "./cutting.ts";
import { dock } from "./dock.ts";
import { partList, percent, sentenceText, unmeasured } from "./parts.ts";
import { reader } from "./reader.ts";
import { carriers, lookOf, type Span } from "./shares.ts";
import { withoutPart } from "./without.ts";

const NO_TEXT =
  "The text of this record, or the places of its tokens in it, are not known: capture a chat, or a text whose answer the model generates.";

/** Beside the reader from so many CSS pixels on. */
const BESIDE = 900;

export function textView(context: Context): View {
  const { scope, state } = context;
  const alone = signal(false);
  const element = el("div", { class: "text-view" });
  const content = signal<ViewContent | null>(null);
  scope.scopedEffect((own) => {
    const stack = state.shown.stack.value;
    const { text } = stack;
    const waiting = (message: string) => {
      content.value = null;
      replaceContent(element, el("p", { class: "notice" }, message));
    };
    if (stack.difference) return waiting("The running text is that of A or of B: choose one.");
    if (!text) return waiting(NO_TEXT);
    const loaded = context.store.stack(stack.name).text().value;
    if (loaded.status === "failed") return waiting(loaded.message);
    if (loaded.status === "loading") return waiting("Waiting for the running text.");
    const shown = runningText({ ...context, scope: own }, alone, loaded.data);
    content.value = shown;
    replaceContent(element, shown.element);
  });
  return {
    element,
    tools: [
      toggle(scope, "Head alone", "Show the current head in place of the mean of all", alone),
    ],
    status: computed(() => content.value?.status.value ?? []),
    legend: computed(() => content.value?.legend.value ?? []),
    tables: computed(() => content.value?.tables.value ?? []),
    figure: () => content.peek()?.figure() ?? null,
    idle: computed(() => {
      const why = alone.value ? "" : "All heads of all layers are shown as one";
      return { layer: why, head: why };
    }),
  };
}

type Shares = Parameters<typeof carriers>[0];

function runningText(
  context: Context,
  alone: { readonly value: boolean },
  shares: Shares,
): ViewContent {
  const { scope, state, store } = context;
  const stack = state.shown.stack.peek();
  const text = stack.text as NonNullable<typeof stack.text>;
  const rows = text.answer?.labels.length ?? stack.queries.labels.length;
  const labels = text.answer?.labels ?? stack.queries.labels;
  const tokens = stack.keys.labels.length;
  const inside = (query: number | null): Span | null => {
    const row = (query ?? -1) - text.first;
    return query !== null && row >= 0 && row < rows ? [row, row] : null;
  };
  const span = signal(inside(state.query.peek()));
  const [hovered, part, pointed] = [
    signal<number | null>(null),
    signal<number | null>(null),
    signal<number | null>(null),
  ];
  // All views look at the row that wrote the token; another lock comes back the same way.
  scope.effect(() => {
    const locked = span.value;
    const query = locked && text.first + locked[1];
    if (query !== null && query < stack.queries.labels.length) state.query.value = query;
    else if (locked === null && inside(state.query.peek())) state.query.value = null;
  });
  scope.effect(() => {
    const query = state.query.value;
    const now = span.peek();
    if (
      query === null
        ? now && text.first + now[1] < stack.queries.labels.length
        : query !== text.first + (now?.[1] ?? -1)
    ) {
      span.value = inside(query);
    }
  });
  const shown = computed((): Span => {
    const at = hovered.value;
    return at === null ? (span.value ?? [0, rows - 1]) : [at, at];
  });
  const layer = computed(() => {
    if (!alone.value) return null;
    const loaded = store.stack(stack.name).layer(state.shown.layer.value.number).value;
    return loaded.status === "ready" ? loaded.data.whole : null;
  });
  const head = state.shown.head;
  const look = computed(() => {
    const [one, at] = [layer.value, head.value];
    const row = (n: number) =>
      one ? one.weightRow(at, text.first + n) : shares.mean.subarray(n * tokens, (n + 1) * tokens);
    return lookOf(stack, text, shares.sinks, row, shown.value);
  });
  const linked = computed(() => pointed.value ?? part.value ?? look.value.parts[0]?.index ?? null);
  const found = computed(() =>
    linked.value === null ? null : carriers(shares, text, rows, linked.value, shown.value),
  );
  const locked = computed(() => [span.value, part.value]);
  const heads = headsOf(stack);
  const cuts = cutting(context, text);
  const named = computed(() => {
    const [first, last] = shown.value;
    if (rows > 1 && first === 0 && last === rows - 1) return "the whole answer";
    const { answer } = text;
    const places = answer?.offsets.slice(2 * first, 2 * last + 2).filter((place) => place >= 0);
    const written = places?.length && answer?.text.slice(places[0], places.at(-1)).trim();
    return `“${written || labels.slice(first, last + 1).join(" ")}”`;
  });
  const ofHeads = computed(() =>
    layer.value
      ? `head ${layerNumber(state.shown.layer.value)}-${head.value}`
      : `mean of ${heads.length} heads${alone.value ? ", this layer is not here" : ""}`,
  );
  const title = el("p", { class: "title" });
  const sinks = el("p", { class: "sinks" });
  const bar = el("div", { class: "message-bar", "aria-hidden": "true" });
  const barText = el("p", { class: "note" });
  const linkTitle = el("p", { class: "title" });
  const verb = text.answer ? "was written from" : "looks at";
  scope.effect(() => {
    const now = look.value;
    title.replaceChildren(
      "What ",
      el("strong", {}, named.value),
      ` ${verb} · ${ofHeads.value} · shade: from an even share, ${now.even.toPrecision(1)}, to ${now.largest.toPrecision(2)}`,
    );
    const all = now.sinks.reduce((sum, { share }) => sum + share, 0);
    const chips = now.sinks.map(({ label, keys, share }) =>
      el(
        "span",
        { class: "chip" },
        `${label}${keys.length > 1 ? ` ×${keys.length}` : ""} `,
        el("b", {}, percent(share)),
      ),
    );
    sinks.replaceChildren(`${percent(all)} on sinks, left out: `, ...chips);
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
      linked.value === null ? "" : ` ${named.value} → sentence ${linked.value + 1}`,
    );
  });
  const left = el(
    "div",
    { class: "left" },
    title,
    sinks,
    reader(context, { text, look, part, pointed, without: cuts.without }),
    dock(scope, { text, labels, span, hovered, cutting: cuts }),
    withoutPart(scope, text, cuts, shown),
  );
  const lists = { text, look, part, pointed, span: shown, cutting: cuts };
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
    linkTitle,
    carrierList(context, heads, found),
    checkOfHeads(context, heads, { found, linked, span: shown, locked, cutting: cuts }),
  );
  const element = el("div", { class: "text-columns" }, left, right);
  scope.effect(() => {
    element.classList.toggle("beside", context.width.value >= BESIDE);
  });
  const keys: Readonly<Record<string, () => void>> = {
    k: () => linked.peek() !== null && cuts.live && cuts.toggle(linked.peek() as number),
    e: () => cuts.measure(unmeasured(text, cuts)),
  };
  element.addEventListener("keydown", (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (plain && Object.hasOwn(keys, event.key)) {
      event.stopPropagation();
      keys[event.key]();
    }
    if (event.key !== "Escape" || (part.peek() === null && span.peek() === null)) return;
    event.stopPropagation();
    if (part.peek() !== null) part.value = null;
    else span.value = null;
  });
  return {
    element,
    status: computed(() => {
      const now = look.value;
      const at = linked.value;
      const link = now.parts.find(({ index }) => index === at);
      if (!link || at === null) return [strong(named.value)];
      return [
        strong(`${named.value} → sentence ${at + 1}`),
        `  ${percent(link.share)} of what the prompt gets beyond sinks · even ${percent(link.even)}`,
        hint(" · Esc releases"),
      ];
    }),
    legend: computed(() =>
      legendLine(
        [],
        [
          "bold: at least twice an even share",
          text.answer && "line below a token: its probability",
          "dotted: sinks, a heuristic",
          "attention is no proof of use: cut it to know",
        ],
      ),
    ),
    tables: computed(() => [
      tableOf("Where it looks", look.value.parts, () => [
        { name: "sentence", of: ({ index }) => index + 1 },
        { name: "text", of: ({ index }) => sentenceText(text, index) },
        { name: "share", of: ({ share }) => share },
        { name: "even", of: ({ even }) => even },
      ]),
    ]),
    figure: () =>
      figureOf(store.manifest, "text", stack, { heading: `What ${named.peek()} ${verb}` }),
  };
}
