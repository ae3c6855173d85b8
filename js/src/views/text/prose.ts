/** Running text whose tokens are ranges of its text nodes: the browser lays it out, as any text. */

import { el } from "../../parts/dom.ts";

/** The rectangles of a token in CSS pixels, from the corner of the prose. */
export type Boxes = readonly DOMRect[];

/** The first of several tokens, and the one after the last. */
export interface Tokens {
  readonly start: number;
  readonly end: number;
}

export type Prose = ReturnType<typeof prose>;

/** Text between two places: a sentence with its number, or what is around sentences. */
export interface Run {
  readonly start: number;
  readonly end: number;
  /** Stands before it, small, and is no part of the text. */
  readonly number?: string | undefined;
  /** Stands in its place, in a block of its own. */
  readonly picture?: HTMLElement | undefined;
}

/** True where a fenced block of code begins. */
export const fenced = (text: string, at = text.length): boolean =>
  /^(```|~~~)/.test(text.slice(at, at + 3));

/** @param offsets two per token, in the text */
export function prose(text: string, offsets: readonly number[], blocks: readonly Run[][]) {
  const element = el("div", { class: "prose" });
  const nodes: { readonly start: number; readonly end: number; readonly node: Text }[] = [];
  for (const runs of blocks) {
    const isCode = fenced(text, runs[0]?.start);
    const block = el(
      "div",
      isCode ? { class: "block code", dir: "ltr" } : { class: "block", dir: "auto" },
    );
    for (const { start, end, number, picture } of runs) {
      if (picture) {
        if (number) picture.dataset.number = number;
        block.append(picture);
        continue;
      }
      const node = document.createTextNode(text.slice(start, end));
      nodes.push({ start, end, node });
      if (number) block.append(el("sup", { "aria-hidden": "true", "data-number": number }, number));
      block.append(el("span", {}, node));
    }
    element.append(block);
  }
  /** The place of a token, without spaces. */
  const lettersOf = (token: number) => {
    let [start, end] = offsets.slice(2 * token, 2 * token + 2);
    while (start < end && /\s/.test(text[start])) start++;
    while (start < end && /\s/.test(text[end - 1])) end--;
    return [start, end] as const;
  };
  return {
    element,
    /** The tokens with letters in a range, and the place of its last ones; null if there are none. */
    selected(given: AbstractRange) {
      const range = document.createRange();
      range.setStart(given.startContainer, given.startOffset);
      range.setEnd(given.endContainer, given.endOffset);
      const places = nodes.flatMap(({ start, end, node }) => {
        if (!range.intersectsNode(node)) return [];
        const from = node === range.startContainer ? start + range.startOffset : start;
        return [[from, node === range.endContainer ? start + range.endOffset : end] as const];
      });
      if (!places.length) return null;
      const tokens = Array.from({ length: offsets.length / 2 }, (_, token) => token).filter(
        (token) => {
          const [start, end] = lettersOf(token);
          return start < end && places.some(([from, to]) => start < to && end > from);
        },
      );
      const box = [...range.getClientRects()].at(-1);
      if (!tokens.length || !box) return null;
      return { tokens: { start: tokens[0], end: tokens[tokens.length - 1] + 1 }, end: box };
    },
    /** The rectangles of each token, measured now; none for a token that is not shown. */
    measure(): readonly Boxes[] {
      const { left, top } = element.getBoundingClientRect();
      const range = document.createRange();
      return Array.from({ length: offsets.length / 2 }, (_, token) => {
        const [start, end] = lettersOf(token);
        return nodes.flatMap((run) => {
          const [from, to] = [Math.max(start, run.start), Math.min(end, run.end)];
          if (from >= to) return [];
          range.setStart(run.node, from - run.start);
          range.setEnd(run.node, to - run.start);
          return [...range.getClientRects()].map(
            (box) => new DOMRect(box.x - left, box.y - top, box.width, box.height),
          );
        });
      });
    },
  };
}

/** The boxes of several tokens, one for each line. */
export function linesOf(boxes: readonly Boxes[]): Boxes {
  const lines: DOMRect[] = [];
  for (const box of boxes.flat()) {
    const last = lines.at(-1);
    if (last && Math.abs(last.y - box.y) < box.height / 2) {
      const [x, right] = [Math.min(last.x, box.x), Math.max(last.right, box.right)];
      lines[lines.length - 1] = new DOMRect(x, last.y, right - x, last.height);
    } else lines.push(box);
  }
  return lines;
}
