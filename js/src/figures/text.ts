/** Labels of a figure, measured without a font: alike on every machine, and in Python. */

import { type RGB, rgb } from "../styles/theme.ts";
import type { Layout } from "./scene.ts";

/** What XML has no sign for, among it halves of characters. */
const UNWRITABLE = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Widths of Arial's letters, in shares of the size. */
const WIDTHS = new Map(
  (
    [
      ["iljI.,:;'|!` ", 0.28],
      ['frt()[]{}/\\-"*', 0.36],
      ["mwMW@%", 0.88],
    ] as const
  ).flatMap(([letters, width]) => [...letters].map((letter) => [letter, width])),
);
const EAST_ASIAN = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f000, 0x3ffff],
] as const;
const BOLD = 1.06;

/** What a file can hold of it, in one line. */
export const clean = (text: string) => text.replace(UNWRITABLE, "").replace(/[\t\n\r]/g, " ");

export function textWidth(text: string, size: number, bold = false): number {
  let sum = 0;
  for (const letter of text) sum += em(letter);
  return sum * size * (bold ? BOLD : 1);
}

function em(letter: string): number {
  const known = WIDTHS.get(letter);
  if (known !== undefined) return known;
  if (letter >= "A" && letter <= "Z") return 0.7;
  const code = letter.codePointAt(0) as number;
  if (code < 0x300) return 0.56;
  if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(letter)) return 0;
  return EAST_ASIAN.some(([first, last]) => code >= first && code <= last) ? 1 : 0.6;
}

/** The label, shortened in the middle if it is wider than `width`. */
export function shorten(label: string, width: number, size: number, bold = false): string {
  const text = clean(label);
  if (textWidth(text, size, bold) <= width) return text;
  const letters = [...text];
  for (let kept = Math.min(letters.length - 1, Math.floor(width / size / 0.25)); kept > 1; kept--) {
    const head = Math.ceil(kept / 2);
    const tail = letters.slice(letters.length - (kept - head));
    const short = `${letters.slice(0, head).join("")}…${tail.join("")}`;
    if (textWidth(short, size, bold) <= width) return short;
  }
  return letters[0] ?? "";
}

/** The first colour with so much of the second: six hexadecimal digits. */
export function mixed(below: string, above: string, share: number): string {
  const [from, to] = [rgb(below), rgb(above)];
  return hexadecimal(from.map((part, n) => part + (to[n] - part) * share) as unknown as RGB);
}

export const hexadecimal = (color: RGB) =>
  color
    .map((part) =>
      Math.floor(part + 0.5)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("");

const SMALL = 12;

/** Lines of small print below all; returns the height with them. */
export function smallPrint(
  layout: Layout,
  width: number,
  height: number,
  notes: readonly string[],
  color: string,
): number {
  const lines: string[] = [];
  for (const note of notes.map(clean).filter(Boolean)) {
    const longer = lines.length ? `${lines[lines.length - 1]} · ${note}` : note;
    if (lines.length && textWidth(longer, SMALL) <= width) lines[lines.length - 1] = longer;
    else lines.push(shorten(note, width, SMALL));
  }
  lines.forEach((line, n) => {
    layout.text(0, height + 24 + n * 18, line, SMALL, color);
  });
  return lines.length ? height + 24 + lines.length * 18 - 6 : height;
}

/** What is less than all of the attention, rounded down: "100%" is said only of everything. */
export const drawnShare = (percent: number) =>
  // What is left of the sum's rounding is none of the attention.
  percent > 99.9999 ? "" : `${Math.floor(percent * 10) / 10}% of attention drawn`;
