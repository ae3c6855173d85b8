/** Text stays text: what is written is what can be selected, and tokens are places in it. */

import { expect, test } from "vitest";
import { prose } from "../../../src/views/text/prose.ts";
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
        { start: 0, end: 5, attributes: { "data-number": "1" } },
        { start: 5, end: 8 },
      ],
    ],
  );
  place(written.element);
  expect(written.measure().map((of) => of.length)).toEqual([1, 2, 0]);
});
