/** Columns stand beside each other, as many as there is room for. */

import { expect, test } from "vitest";
import { layoutFor } from "../../../src/views/neuron/layout.ts";

const SIZES = [4, 32, 64, 128, 256].flatMap((dim) =>
  [500, 640, 900, 1300, 2000].map((room) => ({ dim, room })),
);

test.for(SIZES)("$dim components in $room px overlap nowhere", ({ dim, room }) => {
  for (const biased of [false, true]) {
    const layout = layoutFor(room, 90, dim, biased);
    const { labels, strip, bias, scores, weights } = layout;
    const strips = [layout.keys, layout.products].filter((left) => left !== null);
    const columns: (readonly [number, number])[] = [
      [0, labels],
      ...(layout.queries === null ? [] : [[layout.queries, layout.queries + strip] as const]),
      // The labels of the keys would cover the ends of the curves.
      layout.curves,
      [layout.keyLabels, layout.keyLabels + labels],
      ...strips.map((left) => [left, left + strip] as const),
      ...[bias, scores, weights].flatMap((bars) => (bars ? [[bars.left, bars.end] as const] : [])),
      [layout.width, layout.width],
    ];
    columns.slice(1).forEach(([left], n) => {
      expect(left).toBeGreaterThanOrEqual(columns[n][1]);
    });
    // At least a pixel each.
    expect(strip).toBeGreaterThanOrEqual(dim);
  }
});

test("where it is narrow, vectors are left out before the view gets wider than its place", () => {
  const at = (room: number) => layoutFor(room, 90, 64, false);
  expect([at(1300).queries, at(1300).keys].includes(null)).toBe(false);
  expect(at(560)).toMatchObject({ queries: null, keys: null, width: 560 });
  const few = (room: number) => layoutFor(room, 90, 32, false);
  expect(few(600)).toMatchObject({ queries: null, width: 600 });
  expect(few(600).keys).not.toBeNull();
  expect(few(420)).toMatchObject({ queries: null, keys: null, width: 420 });
});

test("width goes to the vectors before it goes to the bars", () => {
  for (const dim of [32, 64, 128]) {
    for (let room = 420; room <= 2000; room += 20) {
      const { strip, bias, scores, weights } = layoutFor(room, 90, dim, true);
      if (strip >= 6 * dim) continue;
      const said = `${dim} components in ${room} px`;
      expect(bias?.width, said).toBeLessThanOrEqual(60);
      expect(scores.width, said).toBeLessThanOrEqual(60);
      expect(weights.width, said).toBeLessThanOrEqual(90);
    }
  }
});

test("where there is room, bars are as generous as the vectors", () => {
  const { strip, scores, weights } = layoutFor(1310, 84, 32, false);
  expect(strip / 32).toBeGreaterThanOrEqual(6);
  expect([scores.width, weights.width]).toEqual([84, 120]);
});
