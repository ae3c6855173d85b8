/** The text view: a prompt as running text, its answer, and what the answer was written from. */

import { computed, signal } from "@preact/signals-core";
import { isAttention } from "../../data/manifest.ts";
import { choice, optionsOf, toggle } from "../../parts/choice.ts";
import { el, replaceContent, revealWithin } from "../../parts/dom.ts";
import { hint, percent, strong, weight } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { notice } from "../shared/layer-view.ts";
import { weighting } from "../shared/tools.ts";
import { type Context, figureOf, type View, type ViewContent } from "../shared/view.ts";
import { legendLine, tableOf } from "../shared/words.ts";
import { carrierList } from "./carriers.ts";
import { checkOfHeads } from "./check.ts";
import { changeOf, nats } from "./cutting.ts";
import { dock } from "./dock.ts";
import { imagesOf, placeOf } from "./images.ts";
import { partList } from "./parts.ts";
import { player } from "./player.ts";
import type { Tokens } from "./prose.ts";
import { reader } from "./reader.ts";
import { ownChoices, type Reading, readingOf } from "./reading.ts";
import { isMarked, partAt, partsOf, type Region } from "./shares.ts";
import { strip } from "./strip.ts";
import { strongestPatches } from "./strongest.ts";
import { withoutPart } from "./without.ts";

const NO_SHARES =
  "Running text shows shares of attention, and these layers have signed coefficients: choose layers with a softmax.";
const NO_TEXT =
  "Nothing was generated here and the text is no chat and no pair, or the places of its tokens are not known: capture with generate=, or pass messages, with a fast tokenizer.";

const COMPARED = "Running texts of two records are not compared: show one of them.";

/** Beside the reader from so many CSS pixels on. */
const BESIDE = 900;

const LEVELS = {
  sentences: "Sentences",
  paragraphs: "Paragraphs",
  messages: "Messages",
  named: "Named segments",
} as const;
/** What shares stand beside: its name in the menu, and in words. */
const NULLS = {
  even: ["Even share", "an even share"],
  shuffled: ["Shuffled sentences", "what its place gets in other orders of the sentences"],
  rest: ["Rest of the answer", "the rest of the answer"],
} as const;

/** What is shown for a stack; a notice releases nothing. */
type Content = ViewContent & Pick<View, "release">;

export function textView(context: Context): View {
  const { scope, state, store } = context;
  const chosen = ownChoices();
  const { alone } = chosen;
  const lens = weighting(scope, state, store);
  const element = el("div", { class: "text-view" });
  const content = signal<Content>(notice(""));
  scope.scopedEffect((inner) => {
    const shown = contentNow(inner);
    content.value = shown;
    replaceContent(element, shown.element);
  });
  function contentNow(inner: Scope): Content {
    const stack = state.shown.stack.value;
    const { text } = stack;
    if (stack.difference) return notice("The running text is that of A or of B: choose one.");
    if (stack.layers[0].signed) return notice(NO_SHARES);
    if (!text) return notice(store.manifest.compared ? COMPARED : NO_TEXT);
    const loaded = store.stack(stack.name).text().value;
    if (loaded.status === "failed") return notice(loaded.message);
    if (loaded.status === "loading") return notice("Waiting for the running text.");
    const images = imagesOf(store.manifest, text, stack.keys);
    const parts = [...partsOf(text, state.parts.value, state.named_segments.value, images)];
    const mine = chosen.part.value;
    if (mine?.stack === stack.name) {
      const { start, end, region } = mine;
      const made = partAt(text, region?.name ?? "your part", start, end, images);
      const words = region && { keys: region.keys, words: "", sentences: null };
      parts.push(...made.map((each) => ({ ...each, ...words })));
    }
    const own = { ...context, scope: inner };
    return runningText(own, readingOf(own, text, parts, images, loaded.data, chosen));
  }
  const levels = () => {
    const hasNamed = state.named_segments.value.length > 0;
    return optionsOf<"parts">(LEVELS).filter(({ value }) => hasNamed || value !== "named");
  };
  const nulls = () => {
    const { name, text } = state.shown.stack.value;
    const known = store.source.cuts || store.stack(name).shuffled.value;
    return Object.entries(NULLS).map(([value, [label]]) => {
      const isKnown = value === "even" || (text?.answer && (known || value === "rest"));
      return { value, label, off: !isKnown };
    });
  };
  return {
    element,
    tools: [
      toggle(scope, "Head alone", "Show the current head in place of the mean of all", alone),
      lens.control,
      choice(scope, "Parts", levels, state.parts),
      choice(scope, "Beside", nulls, chosen.beside),
    ],
    status: computed(() => content.value.status.value),
    legend: computed(() => content.value.legend.value),
    tables: computed(() => content.value.tables.value),
    figure: () => content.peek().figure(),
    release: () => content.peek().release?.() ?? false,
    keys: { v: lens.next },
    idle: computed(() => {
      const why = alone.value ? "" : "All heads of all layers are shown as one";
      return { layer: why, head: why };
    }),
  };
}

function runningText(context: Context, reading: Reading): Content {
  const { scope, store } = context;
  const { text, parts, images, stack, look, span, shown, part, linked, cutting, named } = reading;
  const make = (tokens: Tokens | null, region?: Region) => {
    const root = element.parentElement;
    reading.make(tokens, region);
    // All is new, and the focus stays where it was needed.
    const own = reading.mine < 0 ? parts.length : reading.mine;
    const to = tokens ? `[data-part="${own}"]` : ".reader";
    root?.querySelector<HTMLElement>(to)?.focus({ preventScroll: true });
  };
  const { element: prompt, take } = reader(context, reading, make);
  const docked = el("div", { class: "docked" }, dock(context, reading));
  if (text.answer) docked.append(player(scope, text.answer, reading));
  docked.append(withoutPart(scope, reading));
  const left = el(
    "div",
    { class: "left" },
    ...heading(context, reading),
    el("div", { class: "prompt" }, prompt, strip(context, reading, prompt)),
    docked,
  );
  const right = el(
    "div",
    { class: "right" },
    ...messageBar(context, reading),
    partList(scope, reading, () => make(null)),
  );
  if (images.some(({ grids }) => grids.length)) right.append(strongestPatches(context, reading));
  const linkTitle = el("p", { class: "title" });
  const notFound = el("p", { class: "note", role: "status" });
  scope.effect(() => {
    linkTitle.replaceChildren(
      el("strong", {}, "Which heads look at it"),
      linked.value === null ? "" : ` ${named.value} → ${parts[linked.value].name}`,
      reading.sinksCount.value ? ", without sinks" : "",
    );
    notFound.textContent = reading.notFound.value;
    notFound.hidden = !reading.notFound.value;
  });
  right.append(linkTitle, notFound, carrierList(context, reading), checkOfHeads(scope, reading));
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
      if (at !== null && (cutting.live || cutting.cuts.peek()[at])) cutting.toggle(at);
    },
    e: cutting.measureAll,
    p: take,
  };
  const release = () => {
    const held = [reading.region, part, span].find(({ value }) => value !== null);
    if (held) held.value = null;
    return held !== undefined;
  };
  element.addEventListener("keydown", (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (plain && Object.hasOwn(keys, event.key)) {
      event.stopPropagation();
      keys[event.key]();
    }
    if (event.key === "Escape" && release()) event.stopPropagation();
  });
  return {
    element,
    release,
    status: computed(() => {
      const now = look.value;
      const at = linked.value;
      const on = reading.patch.value;
      if (on !== null) {
        const drawn = reading.region.value;
        return [
          strong(`${named.value} → ${placeOf(images, on)}`),
          `  ${weight(now.weights[on])}${now.counted[on] ? "" : ", a sink"}`,
          drawn ? ` · ${drawn.name}` : "",
          hint(drawn ? " · Enter or p makes it a part" : ""),
        ];
      }
      const link = now.parts.find(({ index }) => index === at);
      if (!link || at === null) return [strong(named.value)];
      const cut = changeOf(cutting.cuts.value[at], shown.value);
      return [
        strong(`${named.value} → ${parts[at].name}`),
        `  ${percent(link.share)} ${reading.ofWhat.value}${link.beside === null ? "" : ` · ${now.beside} ${percent(link.beside)}`}`,
        cut === null ? "" : ` · if cut ${nats(cut)}`,
        hint(" · Esc releases"),
      ];
    }),
    legend: computed(() =>
      legendLine(
        [],
        [
          `bold: at least twice ${NULLS[look.value.beside][1]}`,
          text.answer && "line below a token: its probability",
          reading.sinksCount.value ? "" : "dotted: sinks, a heuristic",
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
          of: ({ index }) => changeOf(cutting.cuts.value[index], shown.value) ?? Number.NaN,
        },
      ]),
    ]),
    // Its title says what it is.
    figure: () => figureOf(store.manifest, "text", stack),
  };
}

/** What is looked at, and the sinks that are left out. */
function heading({ scope }: Context, reading: Reading): readonly HTMLElement[] {
  const { text, parts, images, look, part, lookers, named, ofHeads, sinksCount } = reading;
  const title = el("p", { class: "title" });
  const countThem = toggle(scope, "Count them", "Shade sinks as any other token", sinksCount);
  countThem.className = "count-sinks";
  const counted = el("span", { class: "counted" });
  const sinks = el("p", { class: "sinks" }, counted, countThem);
  const verb = text.answer ? "was written from" : "looks at";
  scope.effect(() => {
    const now = look.value;
    const [even, most] = [now.even.toPrecision(1), now.largest.toPrecision(2)];
    const shades = images.length
      ? `even ${even} to ${most} · image: √${reading.lens.value.one} to ${reading.largest.value.toPrecision(2)}`
      : `from an even share, ${even}, to ${most}`;
    const [before, name, after] = lookers.value
      ? ["Which words look at ", parts[part.value ?? 0].name, "shade: from an even share"]
      : ["What ", named.value, `shade: ${shades}`];
    const said = lookers.value ? "" : ` ${verb}`;
    title.replaceChildren(before, el("strong", {}, name), `${said} · ${ofHeads.value} · ${after}`);
    title.title = title.textContent;
    const all = now.sinks.reduce((sum, { share }) => sum + share, 0);
    const chips = now.sinks.map(({ label, keys, share }) => {
      const times = keys.length > 1 ? ` ×${keys.length}` : "";
      return el("span", { class: "chip" }, `${label}${times} `, el("b", {}, percent(share)));
    });
    counted.replaceChildren(
      sinksCount.value ? "Sinks are counted " : `${percent(all)} on sinks, left out: `,
      ...chips,
    );
  });
  return [title, sinks];
}

/** The shares of the messages, and of the answer so far. */
function messageBar(
  { scope }: Context,
  { text, look, lens, sinksCount }: Reading,
): readonly HTMLElement[] {
  const title = el("p", { class: "title" });
  const bar = el("div", { class: "message-bar", "aria-hidden": "true" });
  const said = el("p", { class: "note" });
  scope.effect(() => {
    const { counted, messages, template, answer } = look.value;
    const { label, many } = lens.value;
    const what = isAttention(lens.value) ? "attention" : `${label.toLowerCase()} ${many}`;
    const all = sinksCount.value ? `all ${what}` : `the ${what} beyond sinks`;
    title.replaceChildren(el("strong", {}, "Where it looks"), ` of ${all}`);
    const pieces = text.messages.flatMap(({ role, start, end }, at) =>
      counted.slice(start, end).some(Boolean)
        ? [{ name: role || "text", share: messages[at] }]
        : [],
    );
    if (template) pieces.unshift({ name: "template", share: template });
    if (text.answer) pieces.push({ name: "answer so far", share: answer });
    bar.replaceChildren(
      ...pieces.map(({ share }) => {
        const piece = el("i", {});
        piece.style.flexGrow = `${share}`;
        return piece;
      }),
    );
    said.textContent = pieces.map(({ name, share }) => `${name} ${percent(share)}`).join(" · ");
  });
  return [title, bar, said];
}
