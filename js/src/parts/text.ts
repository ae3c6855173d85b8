/** Numbers, names of tokens and text for the reader. */

import type { AttentionMatrix, Quantity } from "../data/attention-matrix.ts";
import type { Program } from "../data/manifest.ts";
import { headScale } from "../data/scores.ts";
import type { Palette } from "../styles/palette.ts";

/** A styled piece of the status line. */
export interface Marked {
  readonly text: string;
  readonly strong?: boolean;
  /** The CSS colour that it is a legend of. */
  readonly color?: string;
  /** True for a token, whose writing direction must not affect the text around it. */
  readonly token?: boolean;
  /** True for a number that follows the pointer, in a line that otherwise stays. */
  readonly live?: boolean;
  /** True for a hint at an action, which figures leave out. */
  readonly hint?: boolean;
  /** True for what comes after the most important numbers, which the tour leaves out. */
  readonly detail?: boolean;
}

export type Phrase = readonly (string | Marked)[];

/** A phrase as text, without hints. */
export const spoken = (phrase: Phrase): string =>
  phrase
    .map((part) => (typeof part === "string" ? part : part.hint ? "" : part.text))
    .join("")
    .trim();

/** A phrase as text, without hints and details. */
export const brief = (phrase: Phrase): string =>
  spoken(phrase.filter((part) => typeof part === "string" || !part.detail));

export const strong = (text: string): Marked => ({ text, strong: true });
export const colored = (color: string, text: string): Marked => ({ text, color });
export const live = (text: string): Marked => ({ text, live: true });
export const hint = (text: string): Marked => ({ text, hint: true });
export const detail = (text: string): Marked => ({ text, detail: true });
export const token = (name: string, strong = false): Marked => ({
  text: name,
  token: true,
  strong,
});

/** "it → dog" in bold. */
export const pair = (query: string, key: string): Phrase => [
  token(query, true),
  strong(" → "),
  token(key, true),
];

/**
 * The decimals of a number that its error leaves right: rounded to them, it is within one unit of
 * the last one. Negative if even a whole number would not be.
 *
 * @param most the decimals of an exact number
 */
export function decimals(error: number, most: number): number {
  let digits = most;
  // Bounds were rounded to single precision.
  while (error > (10 ** -digits / 2) * (1 + 1e-6)) digits--;
  return digits;
}

/** A number for a table, without digits that its error does not support. */
export function rounded(value: number, error: number): number {
  return error === 0 ? value : Number(value.toFixed(Math.max(0, decimals(error, 9))));
}

/**
 * A weight with up to three decimals; a number above zero never looks like zero.
 *
 * @param error a bound of its difference from the record's
 * @param most the decimals of an exact number
 */
export function weight(value: number, error = 0, most = 3): string {
  const digits = Math.max(0, decimals(error, most));
  const unit = 10 ** -digits;
  return value > 0 && value < unit / 2 ? `<${unit.toFixed(digits)}` : value.toFixed(digits);
}

const withPlus = (text: string) => (Number.parseFloat(text) > 0 ? `+${text}` : text);

/** A number of a matrix, as its lens writes it, with its unit. */
export function numberOf(
  { lens: { signed, digits, unit }, difference }: Pick<AttentionMatrix, "lens" | "difference">,
  value: number,
  error: number,
): string {
  const text = signed
    ? within(value, error, digits)
    : difference
      ? number(value, Math.max(0, decimals(error, digits)))
      : weight(value, error, digits);
  return `${difference ? withPlus(text) : text}${unit && ` ${unit}`}`;
}

/** The number of a pair of tokens, without digits that its error does not support. */
export const numberAt = (matrix: AttentionMatrix, query: number, key: number): string =>
  numberOf(matrix, matrix.row(query)[key], matrix.rounding(query, key));

/** The colours of signs, and their meanings: of B − A, or of numbers of one record. */
export function signs({ positive, negative }: Signs, difference: boolean): Phrase {
  const [above, below] = difference ? ["more in B", "less"] : ["above 0", "below"];
  return [colored(positive, "■"), ` ${above} `, colored(negative, "■"), ` ${below}`];
}

type Signs = Pick<Palette, "positive" | "negative">;

/** A further number of a pair of tokens, with its name: "score 4.96". */
export function quantity({ name, value, error, as }: Quantity): string {
  const text = {
    weight: () => weight(value, error),
    number: () => within(value, error),
    significant: () => value.toPrecision(3),
  }[as];
  return `${name} ${text()}`;
}

/** A number with a true minus sign. */
export function number(value: number, digits = 2): string {
  if (value === Number.NEGATIVE_INFINITY) return "masked";
  const text = value.toFixed(digits);
  // A number that rounds to zero has no sign.
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "\u2212");
}

/** A number with up to two decimals, as its error leaves them right; with a larger error, "−3 ± 2". */
export function within(value: number, error: number, most = 2): string {
  const digits = decimals(error, most);
  return digits < 0 ? `${number(value, 0)} ± ${roundedUp(error)}` : number(value, digits);
}

/** The formula from q · k to the score, written after q · k: "÷ √64 + bias". */
export function scaling(program: Scaling, head: number, dim: number): string {
  const steps = scalingSteps(program, head, dim).filter(Boolean);
  return steps.join(program.softcap === null ? " " : ", ");
}

/**
 * The steps of the formula: the scale, "" if it is 1, and, if there are any, the softcap, where x
 * stands for the value so far, and the bias.
 */
export function scalingSteps(program: Scaling, head: number, dim: number): readonly string[] {
  const { softcap, bias, relative } = program;
  const scale = headScale(program, head);
  const root = Math.abs(scale * Math.sqrt(dim) - 1) < 1e-6;
  const scaled = root ? `÷ √${dim}` : scale === 1 ? "" : `× ${Number(scale.toPrecision(4))}`;
  const capped = softcap === null ? [] : [`softcap ${softcap}·tanh(x/${softcap})`];
  return [scaled, ...capped, ...(bias || relative ? ["+ bias"] : [])];
}

type Scaling = Pick<Program, "scale" | "softcap" | "bias" | "relative">;

/** "1 head", "1,200 heads". */
export const counted = (count: number, what: string): string =>
  `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

/** The parts of a line that are not empty. */
export const joined = (...parts: readonly string[]): string => parts.filter(Boolean).join(" · ");

/** "99.9% of attention shown", rounded down, so that 100% means all of it; "" for all. */
export const shareShown = (percent: number, of = "attention"): string =>
  percent < 100 ? `${Math.floor(percent * 10) / 10}% of ${of} shown` : "";

/** "12%", or "1.2%" below ten. */
export const percent = (share: number): string =>
  `${share < 0.0995 ? (100 * share).toFixed(1) : Math.round(100 * share)}%`;

/** The text with a capital first letter. */
export const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The CSS font of labels and numbers. */
export const fontOf = (size: number, weight = 400) => `${weight} ${size}px system-ui, sans-serif`;

/** Returns a function that measures text in this font, in CSS pixels. */
export function textMeasure(font: string): (text: string) => number {
  const context = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
  context.font = font;
  return (text) => context.measureText(text).width;
}

/** The letters as readers see them, with their accents and joiners. */
export function lettersOf(text: string): readonly string[] {
  return Array.from(LETTERS.segment(text), ({ segment }) => segment);
}

// Created once, since that takes longer than segmenting most labels.
const LETTERS = new Intl.Segmenter();

/** Shorten a label in the middle if it is wider than `width`; of a pair, each text. */
export function shorten(label: string, width: number, measure: (text: string) => number): string {
  const letters = lettersOf(label.length > LONGEST ? withoutMiddle(label) : label);
  if (letters.length < LONGEST && measure(label) <= width) return label;
  const replaced = label.split(" | ");
  if (replaced.length === 2) {
    const short = shortPair(replaced[0], replaced[1], width, measure);
    if (measure(short) <= width) return short;
  }
  const short = (kept: number) => {
    const head = Math.ceil(kept / 2);
    return `${letters.slice(0, head).join("")}…${kept > 1 ? letters.slice(head - kept).join("") : ""}`;
  };
  // Binary search for the most letters that fit.
  let [fits, over] = [1, letters.length];
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (measure(short(middle)) <= width) fits = middle;
    else over = middle;
  }
  return fits > 1 ? short(fits) : (letters[0] ?? "");
}

/** A replaced token, "big | small", with each text shortened on its own: "big|s…l". */
function shortPair(
  before: string,
  after: string,
  width: number,
  measure: (text: string) => number,
): string {
  const room = width - measure("|");
  const first = shorten(before, Math.max(room / 2, room - measure(after)), measure);
  return `${first}|${shorten(after, room - measure(first), measure)}`;
}

/** The most letters of a label that are considered: no view is wider. */
const LONGEST = 400;

const withoutMiddle = (label: string) =>
  label.slice(0, LONGEST / 2) + label.slice(label.length - LONGEST / 2);

/** The width of a column for these labels, in CSS pixels, within bounds. */
export function columnWidth(
  labels: readonly string[],
  fontSize: number,
  bounds: [number, number],
): number {
  // Measured in bold, as locked tokens are shown.
  const measure = textMeasure(fontOf(fontSize, 600));
  let widest = bounds[0];
  for (const label of new Set(labels)) {
    widest = Math.max(widest, Math.ceil(measure(label)) + 18);
    // Stop at the bound, which one of the first words of a long text reaches.
    if (widest >= bounds[1]) return bounds[1];
  }
  return widest;
}

/** A value rounded up to one significant digit, for a bound. */
export function roundedUp(value: number): string {
  if (value === 0) return "0";
  const unit = 10 ** Math.floor(Math.log10(value));
  return (Math.ceil(value / unit) * unit).toPrecision(1);
}

/** Increasing numbers as ranges: "0–2, 5". */
export function ranges(numbers: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
}

/** The least of 1, 2 and 5 times a power of ten that is not below a number: a step between labels. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}

interface Labelled {
  readonly labels: readonly string[];
}

const uniqueNames = new WeakMap<Labelled, readonly string[]>();

/** A unique name for every token: "it", or "it₁₁" if another token is "it", too. */
export function tokenNames(tokens: Labelled): readonly string[] {
  const cached = uniqueNames.get(tokens);
  if (cached) return cached;
  const counts = new Map<string, number>();
  for (const label of tokens.labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  const names = tokens.labels.map((label, position) =>
    counts.get(label) === 1 ? label : label + subscript(position),
  );
  uniqueNames.set(tokens, names);
  return names;
}

function subscript(number: number): string {
  return [...`${number}`].map((digit) => String.fromCodePoint(0x2080 + Number(digit))).join("");
}
