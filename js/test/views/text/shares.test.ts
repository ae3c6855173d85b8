/** The numbers of the text view, by hand. */

import { expect, test } from "vitest";
import type { RunningText } from "../../../src/data/manifest.ts";
import { carriers, lookersAt, lookOf, partsOf } from "../../../src/views/text/shares.ts";

const labels = ["<s>", "A", "cat", "sat", "?", "A", "dog"];
const text: RunningText = {
  text: "<s>A cat sat? A dog",
  offsets: [0, 3, 3, 4, 4, 8, 8, 12, 12, 13, 13, 15, 15, 19],
  messages: [{ role: "user", start: 0, end: 5 }],
  template: [0],
  sentences: [
    [1, 3],
    [3, 5],
  ],
  first: 4,
  answer: null,
  shuffled: null,
};
const kinds = Float32Array.of(1, 0, 0, 0, 3, 0, 0);
const rows = [
  Float32Array.of(0.4, 0.1, 0.2, 0.1, 0.2, 0, 0),
  Float32Array.of(0.2, 0.1, 0, 0.3, 0.2, 0.2, 0),
];

const parts = partsOf(text, "sentences");
const looked = {
  text,
  labels,
  kinds,
  parts,
  rows: rows.length,
  beside: "even",
  shuffled: null,
} as const;

test("shares are of what the prompt gets beyond sinks, beside an even one", () => {
  const look = lookOf(looked, (at) => rows[at], [0, 0]);
  expect(look.counted).toEqual([false, true, true, true, false, false, false]);
  const found = look.parts.map(({ index, share, beside }) => [
    index,
    +share.toFixed(4),
    +(beside ?? 9).toFixed(4),
  ]);
  expect(found).toEqual([
    [0, 0.75, 0.6667],
    [1, 0.25, 0.3333],
  ]);
  expect(look.even).toBeCloseTo(0.4 / 3, 6);
  expect(look.sinks.map(({ label, share }) => [label, +share.toFixed(4)])).toEqual([
    ["first token", 0.4],
    ["“?”", 0.2],
  ]);
  expect(look.messages[0]).toBeCloseTo(1, 6);
  expect(look.template).toBe(0);
});

test("with sinks, shares are of all attention, and the template has its own", () => {
  const look = lookOf({ ...looked, kinds: new Float32Array(7) }, (at) => rows[at], [0, 1]);
  const [messages, template, answer] = [look.messages[0], look.template, look.answer];
  expect([messages, template, answer].map((share) => +share.toFixed(4))).toEqual([0.6, 0.3, 0.1]);
  // Parts have no template.
  expect(look.total).toBeCloseTo(0.6, 6);
});

test("a span has the mean of its rows, and those above their even share come first", () => {
  const look = lookOf(looked, (at) => rows[at], [0, 1]);
  expect(look.parts.map(({ index, share }) => [index, +share.toFixed(4)])).toEqual([
    [1, 0.5],
    [0, 0.5],
  ]);
  expect(look.answer).toBeCloseTo(0.1 / 0.5, 6);
});

test("heads have their attention on a sentence, and that of the other rows", () => {
  // [rows, sentences, heads]
  const shares = Float32Array.of(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8);
  const found = carriers(shares, 2, 2, [1, 2], [1, 1]);
  expect(
    found.map(({ head, share, elsewhere }) => [
      head,
      +share.toFixed(4),
      +(elsewhere ?? 9).toFixed(4),
    ]),
  ).toEqual([
    [0, 0.7, 0.3],
    [1, 0.8, 0.4],
  ]);
});

test("named parts keep to the prompt, and have sentences only where they are whole ones", () => {
  const named = partsOf(text, "named", [
    [2, 4, "middle"],
    [3, 9, "end"],
    [5, 7, "of the answer"],
  ]);
  const isNamed = true;
  expect(named).toEqual([
    { name: "middle", isNamed, start: 2, end: 4, sentences: null, words: "cat sat" },
    { name: "end", isNamed, start: 3, end: 5, sentences: [1, 2], words: "sat?" },
  ]);
  const ofPlaces = { ...looked, parts: named, beside: "shuffled", shuffled: [[2, 1]] } as const;
  const look = lookOf(ofPlaces, (at) => rows[at], [0, 0]);
  const found = look.parts.map(({ index, share, beside }) => [index, +share.toFixed(4), beside]);
  // What the place of a half sentence gets in other orders is not known.
  expect(found).toEqual([
    [0, 0.75, null],
    [1, 0.25, 1 / 3],
  ]);
});

test("the rest of the answer is the mean of the other rows; of all of it, there is none", () => {
  const rest = { ...looked, beside: "rest" } as const;
  const look = lookOf(rest, (at) => rows[at], [0, 0]);
  const found = look.parts.map(({ index, beside }) => [index, +(beside ?? 9).toFixed(4)]);
  expect([look.beside, found]).toEqual([
    "rest",
    [
      [0, 0.25],
      [1, 0.75],
    ],
  ]);
  expect(lookOf(rest, (at) => rows[at], [0, 1]).beside).toBe("even");
});

test("the other way round: how much each row looks at a part", () => {
  const look = lookOf(looked, (at) => rows[at], [0, 1]);
  const { shares, even } = lookersAt(look, parts[0], 2, (at) => rows[at]);
  expect(shares.map((share) => +share.toFixed(4))).toEqual([0.75, 0.25]);
  expect(even).toBeCloseTo(2 / 3, 6);
});

test("parts are sentences, or join those of a paragraph or of a message", () => {
  const written = "A. B.\n\nC. D.";
  const starts = [0, 3, 7, 10];
  const several: RunningText = {
    ...text,
    text: written,
    offsets: starts.flatMap((at) => [at, at + 2]),
    messages: [
      { role: "user", start: 0, end: 3 },
      { role: "user", start: 3, end: 4 },
    ],
    template: [],
    sentences: starts.map((_, at) => [at, at + 1] as [number, number]),
  };
  const spans = (level: Parameters<typeof partsOf>[1]) =>
    partsOf(several, level).map(({ start, end }) => `${start}-${end}`);
  expect(spans("sentences")).toEqual(["0-1", "1-2", "2-3", "3-4"]);
  expect(spans("paragraphs")).toEqual(["0-2", "2-3", "3-4"]);
  expect(spans("messages")).toEqual(["0-3", "3-4"]);
});

test("places in other orders are multiples of an even share, the mean of the rows", () => {
  const shuffled = [
    [1.5, 0.5],
    [0.5, null],
  ];
  const look = lookOf({ ...looked, beside: "shuffled", shuffled }, (at) => rows[at], [0, 1]);
  const found = new Map(look.parts.map(({ index, beside }) => [index, beside]));
  expect(look.beside).toBe("shuffled");
  expect(found.get(0)).toBeCloseTo((2 / 3) * 1, 6);
  // Not known in one of the rows.
  expect(found.get(1)).toBeNull();
});

test("a blank line ends a paragraph whose line breaks are tokens of the next sentence", () => {
  const offsets = [0, 2, 2, 3, 3, 4, 4, 6, 6, 7, 7, 9];
  const broken: RunningText = {
    ...text,
    text: "A.\n\nB.\nC.",
    offsets,
    messages: [{ role: "user", start: 0, end: 6 }],
    template: [],
    sentences: [
      [0, 1],
      [1, 4],
      [4, 6],
    ],
  };
  const spans = partsOf(broken, "paragraphs").map(({ start, end }) => `${start}-${end}`);
  expect(spans).toEqual(["0-1", "1-6"]);
});
