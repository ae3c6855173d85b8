/** The strongest links of the head that is looked at, in the record's own text. */

import { type ReadonlySignal, signal } from "@preact/signals-core";
import { type Head, metricValue } from "../../data/manifest.ts";
import { el } from "../../parts/dom.ts";
import { fontOf, number, shorten, signed, textMeasure, weight } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { attentionOf } from "../../state/lens.ts";
import { axesOf, sameText } from "../shared/axes.ts";
import { shownMatrix } from "../shared/heads/matrices.ts";
import { type Link, strongestLinks } from "../shared/links.ts";
import type { Context } from "../shared/view.ts";
import { sameHead } from "./labels.ts";
import { paintSentence, SENTENCE_HEIGHT, WIDEST } from "./sentence.ts";

/** The number of links that are drawn, and of those that are written. */
const DRAWN = 5;
const WRITTEN = 3;
/** The height of two lines of text, with the space above them. */
const LINES = 40;
/** The time for which the pointer has to rest on a head before its layer is fetched. */
const REST_MS = 120;

const TITLE =
  "The strongest links between two tokens. Left out are those of a token to itself, to the first, " +
  "and from or to special tokens.";

/** @param width in CSS pixels */
export function strongest(
  scope: Scope,
  { state, store, palette }: Context,
  focused: ReadonlySignal<Head>,
  colorOf: ReadonlySignal<(head: Head) => string>,
  width: number,
): HTMLElement {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const line = el("figcaption", {});
  const figure = el("figure", {}, canvas, line);
  const stack = state.shown.stack.peek();
  const measure = textMeasure(fontOf(12));
  figure.style.minHeight = `${SENTENCE_HEIGHT + LINES}px`;
  const settled = signal(focused.peek());
  /** The head whose links are shown. */
  let shown: Head | null = null;
  const fade = (faded: boolean) => figure.classList.toggle("faded", faded);
  let timer = 0;
  scope.onEnd(() => clearTimeout(timer));
  scope.effect(() => {
    const head = focused.value;
    clearTimeout(timer);
    // The links of another head stay for a moment, as such.
    fade(!sameHead(head, shown));
    timer = window.setTimeout(() => {
      settled.value = head;
    }, REST_MS);
  });

  /** Show a sentence in place of links. */
  const say = (head: Head, text: string) => {
    shown = head;
    fade(!sameHead(head, focused.peek()));
    canvas.hidden = true;
    line.textContent = text;
    figure.setAttribute("aria-label", text);
  };

  scope.scopedEffect((own) => {
    const head = settled.value;
    const loaded = store.stack(stack.name).layer(head.layer.number).value;
    if (loaded.status === "failed") say(head, loaded.message);
    if (loaded.status !== "ready") return;
    const { data } = loaded;
    if (data.overview(head.head, "all")) {
      say(head, "The layer is too large to search it here: open the head.");
      return;
    }
    const axes = axesOf(state, stack);
    // The numbers of the map are those of attention.
    const matrix = shownMatrix(state, data, axes, head.head, { lens: attentionOf(state) });
    const same = sameText(axes);
    const show = (links: readonly Link[]) => {
      const drawn = links.slice(0, DRAWN);
      shown = head;
      fade(!sameHead(head, focused.peek()));
      canvas.hidden = !same || !drawn.length;
      own.effect(() => {
        if (canvas.hidden) return;
        const color = colorOf.value(head);
        paintSentence(canvas, width, axes.query, drawn, color, palette.value);
      });
      const named = (name: (text: string) => string) =>
        drawn.map(({ query, key, weight: value }) => {
          const error = matrix.rounding(query, key);
          const written = stack.difference ? signed(value, error) : weight(value, error);
          return `${name(axes.query.names[query])} → ${name(axes.key.names[key])} ${written}`;
        });
      const short = named((text) => shorten(text, WIDEST, measure));
      const whole = named((text) => text);
      const first = state.shown.metrics.peek().find(({ name }) => name === "first");
      // Over many texts, it is not that of this text.
      const share = store.manifest.texts === null && first && metricValue(first, head);
      line.textContent = [
        ...(drawn.length ? short.slice(0, WRITTEN) : ["no links between two other tokens"]),
        ...(typeof share !== "number"
          ? []
          : [`on the first token ${number(share, first?.digits)}`]),
      ].join(" · ");
      line.title = whole.join(" · ");
      figure.setAttribute("aria-label", `Strongest links: ${whole.join(", ") || "none"}`);
    };
    own.onEnd(
      strongestLinks(matrix, axes, (done, links) => {
        if (done === 1) show(links);
      }),
    );
  });
  return el(
    "section",
    { class: "map-links" },
    el(
      "div",
      { class: "title", title: TITLE },
      el("strong", {}, "Where it looks"),
      store.manifest.texts === null
        ? " strongest links; first and special tokens left out"
        : " strongest links in the text shown; first and special tokens left out",
    ),
    figure,
  );
}
