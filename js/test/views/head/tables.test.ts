/** Tables copied from the head view hold the record's numbers. */

import { expect, test } from "vitest";
import { LayerData } from "../../../src/data/layer-data.ts";
import type { Choices } from "../../../src/state/choices.ts";
import type { View } from "../../../src/views/shared/view.ts";
import { stateOf, storeOf } from "../../support/choices.ts";
import { eventually } from "../../support/eventually.ts";
import { sourceOf } from "../../support/mounted.ts";
import { LABELS, sum, weightAt } from "../../support/numbers.ts";
import { expectClose } from "../../support/vectors.ts";
import { mountView } from "../../support/view.ts";
import { watch } from "../../support/watch.ts";

async function mounted(choices: Partial<Choices>): Promise<View> {
  const view = mountView(stateOf(choices), storeOf(undefined, sourceOf()));
  await eventually(() => expect(view.tables.value.length).toBeGreaterThan(0));
  return view;
}

const names = ({ tables }: View) => tables.value.map(({ name }) => name);

function rows({ tables }: View, name: string) {
  const found = tables.value.find((table) => table.name === name);
  if (!found) throw new Error(`There is no ${name}.`);
  const [header, ...body] = found.rows();
  const numbers = (from: number) => body.map((row) => row.slice(from) as number[]);
  return { header, body, numbers };
}

test("the matrix is that of the current head", async () => {
  const { header, body, numbers } = rows(await mounted({ head: 2 }), "Matrix");
  expect(header).toEqual(["", ...LABELS]);
  expect(body.map(([label]) => label)).toEqual(LABELS);
  numbers(1).forEach((row, query) => {
    expectClose(
      row,
      LABELS.map((_, key) => weightAt(0, 2, query, key)),
    );
  });
});

test("the row looked at has a column per head that is drawn", async () => {
  const view = await mounted({ query: 3, heads: [0, 3] });
  expect(names(view)).toEqual(["Row", "Matrix", "Vectors"]);
  const { header, body, numbers } = rows(view, "Row");
  expect(header).toEqual(["key", "token", "Head 0", "Head 3"]);
  expect(body.map(([, label]) => label)).toEqual(LABELS);
  numbers(2).forEach((row, key) => {
    expectClose(
      row,
      [0, 3].map((head) => weightAt(0, head, 3, key)),
    );
  });
});

test("the column looked at too, as sums where several are", async () => {
  const view = await mounted({ key: 1, also: [6], heads: [1] });
  expect(names(view)).toEqual(["Column", "Matrix", "Vectors"]);
  const { header, numbers } = rows(view, "Column");
  expect(header).toEqual(["query", "token", "Head 1"]);
  numbers(2).forEach((row, query) => {
    expectClose(row, [sum([1, 6].map((key) => weightAt(0, 1, query, key)))]);
  });
});

test("a filter leaves only what is shown", async () => {
  const { header, body, numbers } = rows(await mounted({ segments: "ba" }), "Matrix");
  expect(header.slice(1)).toEqual(LABELS.slice(0, 5));
  expect(body.map(([label]) => label)).toEqual(LABELS.slice(5));
  expectClose(
    numbers(1)[2],
    [0, 1, 2, 3, 4].map((key) => weightAt(0, 0, 7, key)),
  );
});

test("the vectors are those that the scores are made of", async () => {
  const choices = { layer: 2, head: 7 };
  const view = await mounted(choices);
  const { header, body, numbers } = rows(view, "Vectors");
  expect(header.slice(0, 4)).toEqual(["side", "position", "token", "n0"]);
  expect(body.map((row) => row.slice(0, 3))).toEqual([
    ...LABELS.map((label, at) => ["query", at, label]),
    ...LABELS.map((label, at) => ["key", at, label]),
  ]);
  const layer = storeOf(undefined, sourceOf()).stack("self").layer(2);
  watch(layer);
  await eventually(() => expect(layer.value.status).toBe("ready"));
  const { value } = layer;
  if (value.status !== "ready" || !(value.data instanceof LayerData)) throw new Error(value.status);
  const { data } = value;
  const expected = LABELS.map((_, at) => [
    ...(data.query(7, at) as Float32Array),
    ...(data.key(7, at) as Float32Array),
  ]);
  const shown = numbers(3);
  expect(LABELS.map((_, at) => [...shown[at], ...shown[at + LABELS.length]])).toEqual(expected);
});

test("there are no vectors where none were recorded", async () => {
  expect(names(await mounted({ layer: 1 }))).toEqual(["Matrix"]);
});
