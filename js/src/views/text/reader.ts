/** The prompt as running text, by message, with its tokens shaded by what they get. */

import { computed, signal } from "@preact/signals-core";
import type { RunningText } from "../../data/manifest.ts";
import { paintCanvas, strokeBox } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import { el } from "../../parts/dom.ts";
import { alpha, type Palette } from "../../styles/palette.ts";
import type { Context } from "../shared/view.ts";
import { ownPart, selectedRange } from "./own-part.ts";
import { picture } from "./picture.ts";
import { type Boxes, fenced, linesOf, type Prose, prose, type Run, type Tokens } from "./prose.ts";
import type { Reading } from "./reading.ts";
import { isMarked, keysOf, type Look, type Part, type Region } from "./shares.ts";

/** With the strongest shade, letters stand out by 4.5 to 1. */
const STRONGEST = { light: 0.5, dark: 0.56 } as const;

/** @param make makes some tokens a part, in a row or of a region */
export function reader(
  context: Context,
  reading: Reading,
  make: (tokens: Tokens, region?: Region) => void,
) {
  const { scope, palette } = context;
  const { text, parts, bySize, look, lockPart, pointed, outlines, images } = reading;
  const element = el("div", {
    class: "reader",
    role: "group",
    "aria-label": "Prompt",
    tabindex: 0,
  });
  const takeRegion = () => {
    const drawn = reading.region.peek();
    if (drawn) make({ start: drawn.keys[0], end: (drawn.keys.at(-1) ?? 0) + 1 }, drawn);
    return Boolean(drawn);
  };
  const pictures = new Map(
    images.map((image) => [image.start, picture(context, image, reading, takeRegion)]),
  );
  const texts: Prose[] = [];
  for (const { role, start, end } of text.messages) {
    const inside = bySize.filter(({ each }) => each.start < end && each.end > start);
    const places = text.offsets.slice(2 * start, 2 * end);
    const shown = places.filter(
      (place, n) => place >= 0 && !text.template.includes(start + (n >> 1)),
    );
    if (!shown.length) continue;
    const written = prose(
      text.text,
      text.offsets,
      blocksOf(text, parts, shown, { start, end }, pictures),
    );
    texts.push(written);
    const canvas = el("canvas", { "aria-hidden": "true" });
    const said = el("div", { class: "said" }, canvas, written.element);
    element.append(
      el("section", { class: "message" }, role && el("h3", { class: "role" }, role), said),
    );
    const boxes = signal<readonly Boxes[]>([]);
    const measure = () => {
      boxes.value = written.measure();
    };
    scope.onResize(written.element, measure);
    scope.effect(() => {
      const [now, colors, places] = [look.value, palette.value, boxes.value];
      const outlined = outlines.value;
      const { offsetWidth, offsetHeight } = written.element;
      paintCanvas(canvas, offsetWidth, offsetHeight, (painter) => {
        const forced = matchMedia("(forced-colors: active)").matches;
        const letters = forced ? getComputedStyle(written.element).color : null;
        shade(painter, now, places, colors, letters);
        for (const { part, color, width, dash } of outlined) {
          if (!part || part.end <= start || part.start >= end) continue;
          const own = keysOf(part).map((key) => places[key] ?? []);
          painter.strokeStyle = letters ?? color;
          painter.lineWidth = width;
          painter.setLineDash(dash);
          for (const { x, y, width, height } of linesOf(own)) {
            painter.beginPath();
            painter.roundRect(x - 3, y - 1, width + 6, height + 2, 4);
            painter.stroke();
          }
        }
      });
    });
    const at = ({ clientX, clientY }: MouseEvent): number | null => {
      const { left, top } = written.element.getBoundingClientRect();
      const found = inside.find(({ keys }) =>
        linesOf([...keys].map((key) => boxes.peek()[key] ?? [])).some(
          (box) =>
            clientX - left >= box.x - 3 &&
            clientX - left <= box.right + 3 &&
            clientY - top >= box.y &&
            clientY - top <= box.bottom,
        ),
      );
      return found?.index ?? null;
    };
    written.element.addEventListener("pointermove", (event) => {
      pointed.value = at(event);
    });
    written.element.addEventListener("pointerleave", () => {
      pointed.value = null;
    });
    written.element.addEventListener("click", (event) => {
      // A selection of text is no choice of a part.
      if (selectedRange(element)) return;
      lockPart(at(event));
    });
    const numbers = [...written.element.querySelectorAll<HTMLElement>("[data-number]")];
    const marked = computed(() => new Set(look.value.parts.filter(isMarked).map((p) => p.index)));
    scope.effect(() => {
      for (const each of numbers) {
        each.classList.toggle("marked", marked.value.has(Number(each.dataset.number) - 1));
      }
    });
  }
  const own = ownPart(scope, element, texts, make);
  element.append(own.element);
  return { element, take: () => takeRegion() || own.take() };
}

/**
 * Paragraphs of sentences, and blocks of code; a blank line ends one. The beginnings of parts have
 * their numbers.
 *
 * @param shown the places of the tokens that are shown
 * @param message the tokens of the message
 * @param pictures by their first token
 */
export function blocksOf(
  text: Pick<RunningText, "text" | "sentences" | "offsets">,
  parts: readonly Pick<Part, "start">[],
  shown: readonly number[],
  message: Tokens,
  pictures: ReadonlyMap<number, HTMLElement> = new Map(),
): Run[][] {
  const [begin, end] = [Math.min(...shown), Math.max(...shown)];
  const numbers = new Map<number, string | undefined>();
  const shownAt = new Map<number, HTMLElement>();
  const add = (token: number, number?: string) => {
    if (token < message.start || token >= message.end) return;
    let at = text.offsets[2 * token];
    while (/\s/.test(text.text[at] ?? "")) at++;
    numbers.set(at, numbers.get(at) ?? number);
    const picture = pictures.get(token);
    if (picture) shownAt.set(at, picture);
  };
  for (const [start] of text.sentences) add(start);
  for (const [index, { start }] of parts.entries()) add(start, `${index + 1}`);
  const starts = [...numbers]
    .sort(([a], [b]) => a - b)
    .map(([at, number], n) => ({ at: n ? at : begin, number }));
  const blocks: Run[][] = [[]];
  starts.forEach(({ at, number }, n) => {
    const to = starts[n + 1]?.at ?? end;
    const [picture, next] = [shownAt.get(at), shownAt.has(to)];
    // What a template writes around an image stands for nothing but it.
    const last = next ? Math.max(...shown.filter((place, n) => n % 2 && place <= to)) : to;
    const written = text.text.slice(at, Math.max(at, last));
    const ends =
      n + 1 < starts.length &&
      (picture ||
        next ||
        /\n\s*\n\s*$/.test(written) ||
        fenced(text.text, at) ||
        fenced(text.text, to));
    const shownTo = ends ? at + written.trimEnd().length : to;
    blocks.at(-1)?.push({ start: at, end: shownTo, number, picture });
    if (ends) blocks.push([]);
  });
  return starts.length ? blocks : [[{ start: begin, end }]];
}

type Shades = Pick<Look, "weights" | "even" | "largest" | "counted" | "sinks">;

/** @param letters the colour of the text where colours are forced: shades are lines below tokens there */
export function shade(
  painter: Painter,
  { weights, even, largest, counted, sinks }: Shades,
  boxes: readonly Boxes[],
  palette: Palette,
  letters: string | null,
): void {
  const most = STRONGEST[palette.dark ? "dark" : "light"];
  // Tokens that are parts of a letter share its place: it has the largest of their shades.
  const shades = new Map<string, { readonly box: DOMRect; readonly share: number }>();
  boxes.forEach((parts, key) => {
    if (!counted[key] || weights[key] <= even) return;
    const share = Math.sqrt((weights[key] - even) / (largest - even || 1));
    for (const box of parts) {
      const place = `${box.x} ${box.y}`;
      if (share > (shades.get(place)?.share ?? 0)) shades.set(place, { box, share });
    }
  });
  for (const { box, share } of shades.values()) {
    const { x, y, width, height } = box;
    painter.fillStyle = letters ?? alpha(palette.ink, most * share);
    if (letters) painter.fillRect(x, y + height, width, Math.ceil(3 * share));
    else painter.fillRect(x, y, width, height);
  }
  for (const { x, y, width, height } of sinks.flatMap(({ keys }) =>
    keys.flatMap((key) => boxes[key] ?? []),
  )) {
    const box = [x - 1.5, y + 0.5, width + 3, height - 1] as const;
    strokeBox(painter, box, letters ?? palette.muted, { dash: [1, 2] });
  }
}
