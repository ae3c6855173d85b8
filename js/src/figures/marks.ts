/** What marks single neurons, and the queries that are explained. */

import type { Palette } from "../styles/theme.ts";
import type { Facts } from "../views/neuron/facts.ts";
import { MARKS } from "../views/neuron/layout.ts";
import { hatch } from "./bars.ts";
import type { Places } from "./places.ts";
import type { Layout } from "./scene.ts";

/** Narrower ones have ticks, which stay apart. */
const TRIANGLES = 5;

export function marks(body: Layout, facts: Facts, places: Places, palette: Palette): void {
  const { first, end } = places;
  const { shown } = facts;
  const rows = (all: readonly number[]) => Math.min(all.length, end) - first;
  const strips = [
    [places.queries, rows(shown.queries)],
    [places.keys, rows(shown.keys)],
    [places.products, rows(shown.keys)],
  ] as const;
  const order = facts.order.value;
  const cell = places.strip / order.length;
  turned(body, facts, places, strips, cell, palette);

  for (const n of facts.muted.value) {
    for (const [x, count] of strips) {
      const box = [x + order.indexOf(n) * cell, MARKS, cell, count * places.row] as const;
      body.rect(...box, { fill: palette.background, opacity: 0.7 });
      body.lines(hatch(...box), palette.muted, 1.2, { opacity: 0.55 });
    }
  }
  [facts.explanation.value, facts.comparison.value].forEach((one, second) => {
    const row = one ? facts.places.query[one.query] : -1;
    if (!places.drawn(row)) return;
    const [top, height] = places.band(row);
    const look = { stroke: palette.accent, line: 2, ...(second ? { dash: [6, 4] } : {}) };
    body.rect(places.queries - 2, top - 2, places.strip + 4, height + 4, look);
  });
  const half = Math.min(4, cell * 0.45);
  for (const n of facts.telling.value ?? []) {
    const x = places.products + (order.indexOf(n) + 0.5) * cell;
    if (cell < TRIANGLES) {
      const width = cell < 3 ? 1 : 2;
      body.rect(x - width / 2, MARKS - 8, width, 6, { fill: palette.text });
    } else {
      body.polygon([x - half, MARKS - 8, x + half, MARKS - 8, x, MARKS - 2], palette.text);
    }
  }
}

/** In model order: what a rotary embedding turns together. */
function turned(
  body: Layout,
  { data, order }: Facts,
  { row }: Places,
  strips: readonly (readonly [number, number])[],
  cell: number,
  { muted }: Palette,
): void {
  const { rotary, dim } = data.info;
  if (!rotary || order.value.some((n, at) => n !== at)) return;
  const end = rotary.start + rotary.dims;
  for (const [x, count] of strips) {
    const borders = [rotary.start, end].filter((n) => n > 0 && n < (dim as number));
    if (rotary.pairs === "halves") borders.push(rotary.start + Math.floor(rotary.dims / 2));
    else {
      for (let n = rotary.start; n < end; n += 2) {
        const width = Math.max(1, 2 * cell - 1.5);
        body.rect(x + n * cell + 0.5, MARKS, width, 1.5, { fill: muted });
      }
    }
    for (const n of borders) {
      body.rect(x + n * cell - 0.5, MARKS, 1, count * row, { fill: muted });
    }
  }
}
