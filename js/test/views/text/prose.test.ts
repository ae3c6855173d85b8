/** Text stays text: what is written is what can be selected, and tokens are places in it. */

import { expect, test } from "vitest";
import type { Painter } from "../../../src/painting/painter.ts";
import { alpha, palette } from "../../../src/styles/palette.ts";
import { prose } from "../../../src/views/text/prose.ts";
import { blocksOf, shade } from "../../../src/views/text/reader.ts";
import { place } from "../../support/place.ts";

test.for([
  { name: "from left to right", text: "A cat sat", offsets: [0, 1, 1, 5, 5, 9], order: 1 },
  { name: "from right to left", text: "שלום עולם", offsets: [0, 4, 4, 9], order: -1 },
])("tokens have boxes $name", ({ text, offsets, order }) => {
  const written = prose(text, offsets, [[{ start: 0, end: text.length }]]);
  place(written.element);
  expect(written.element.textContent).toBe(text);
  const boxes = written.measure();
  expect(boxes.map((of) => of.length)).toEqual(boxes.map(() => 1));
  const lefts = boxes.map(([box]) => box.x * order);
  expect(lefts).toEqual([...lefts].sort((a, b) => a - b));
  for (const [box] of boxes) expect(box.width).toBeGreaterThan(3);
});

test("a token across two sentences has a box in each, and one that is not shown has none", () => {
  const written = prose(
    "One. Two",
    [0, 3, 3, 8, -1, -1],
    [
      [
        { start: 0, end: 5 },
        { start: 5, end: 8 },
      ],
    ],
  );
  place(written.element);
  expect(written.measure().map((of) => of.length)).toEqual([1, 2, 0]);
});

test("code is a block of its own, whose lines stay, from left to right", () => {
  const text = "Read:\n```\na\n\nb\n```\nWhy?";
  const { sentences, offsets } = {
    sentences: [
      [0, 1],
      [1, 2],
      [2, 3],
    ] as const,
    offsets: [0, 6, 6, 19, 19, 23],
  };
  const parts = [0, 1, 2].map((start) => ({ start }));
  const blocks = blocksOf({ text, sentences, offsets }, parts, offsets, { start: 0, end: 3 });
  const { element } = prose(text, offsets, blocks);
  const found = [...element.children].map((block) => [
    block.className,
    block.lastChild?.textContent,
  ]);
  expect(found).toEqual([
    ["block", "Read:"],
    ["block code", "```\na\n\nb\n```"],
    ["block", "Why?"],
  ]);
  expect(element.children[1].getAttribute("dir")).toBe("ltr");
});

test.for([
  { name: "the largest shade of its tokens", letters: null, y: 2, height: 8 },
  { name: "a line below it where colours are forced", letters: "#fff", y: 10, height: 3 },
])("a letter has $name", ({ letters, y, height }) => {
  const painted: unknown[] = [];
  const painter = {
    setLineDash: () => {},
    fillStyle: "",
    fillRect(...box: number[]) {
      painted.push([this.fillStyle, ...box]);
    },
  };
  const look = {
    weights: new Float32Array([0.5, 0.25, 0.1]),
    even: 0.25,
    largest: 0.5,
    counted: [true, true, true],
    sinks: [],
  };
  const box = () => [new DOMRect(1, 2, 4, 8)];
  const colors = palette(false);
  shade(painter as unknown as Painter, look, [box(), box(), box()], colors, letters);
  expect(painted).toEqual([[letters ?? alpha(colors.ink, 0.5), 1, y, 4, height]]);
});
