/** Thumbnails of heads on the image: bright where one query looks. */

import { expect, test } from "vitest";
import { page } from "vitest/browser";
import { Absent } from "../../../src/data/resource-cache.ts";
import { firstQuery } from "../../../src/views/shared/picture/shade.ts";
import { eventually } from "../../support/eventually.ts";
import { parts } from "../../support/locators.ts";
import { type App, find, mountModel, pixel } from "../../support/mounted.ts";
import { weightAt } from "../../support/numbers.ts";
import { pictured } from "../../support/pictured.ts";
import { expectNoProblems } from "../../support/problems.ts";

expectNoProblems();

const { cell } = parts();
const options = () =>
  page.getByRole("combobox", { name: "Show", exact: true }).getByRole("option").elements();
const about = (app: App) => find(app, ".about").textContent;

/** The green of each patch: that of red and blue is low, and a veil of white adds to it. */
function greens(app: App, layer: number, head: number): number[] {
  const canvas = find<HTMLCanvasElement>(app, ".thumbnails canvas");
  const [box, origin] = [cell(layer, head).element(), canvas].map((e) => e.getBoundingClientRect());
  const [left, top] = [box.left - origin.left, box.top - origin.top];
  return Array.from({ length: 8 }, (_, patch) => {
    const [x, y] = [(patch % 4) + 0.5, Math.floor(patch / 4) + 0.5];
    // The image is twice as wide as high.
    return pixel(canvas, left + (x * box.width) / 4, top + (y * box.width) / 4)[1];
  });
}

/** The patches from the most to the least attended, but for the query itself. */
const ranked = (layer: number, head: number, query: number) =>
  [...Array(8).keys()]
    .filter((patch) => patch + 1 !== query)
    .sort((a, b) => weightAt(layer, head, query, b + 1) - weightAt(layer, head, query, a + 1));

test("is bright where [CLS] looks, then where the locked query does, in every layer", async () => {
  const app = await mountModel({ record: pictured(), choices: { thumbnails: "image" } });
  for (const [query, name] of [
    [0, "[CLS]"],
    [4, "0,3"],
  ] as const) {
    if (query) app.state.query.value = query;
    expect(about(app)).toContain(`image: ${name} → patches, √(weight ÷ each head’s largest)`);
    await eventually(() => {
      for (const [layer, head] of [
        [0, 2],
        [1, 1],
      ]) {
        const green = greens(app, layer, head);
        const order = ranked(layer, head, query);
        expect(green[order[0]]).toBeLessThan(30);
        expect(green[order[6]]).toBeGreaterThan(green[order[0]] + 40);
      }
    });
  }
  await eventually(() => expect(about(app)).not.toContain("reading"));
});

test("is offered where there is an image, and its layers", async () => {
  const plain = await mountModel({ choices: { thumbnails: "image" } });
  expect(options().map(({ textContent }) => textContent)).toEqual(["Matrix", "Lines"]);
  plain.unmount();
  const block = async () => {
    throw new Absent("Not in this page.");
  };
  const app = await mountModel({
    record: pictured(),
    choices: { thumbnails: "image" },
    source: { block },
  });
  await eventually(() => expect(about(app)).toContain("no images: Not in this page."));
  const image = options().at(-1) as HTMLOptionElement;
  expect([image.textContent, image.disabled, image.title]).toEqual([
    "Image",
    true,
    "Not in this page.",
  ]);
  await expect
    .element(page.getByRole("combobox", { name: "Show", exact: true }))
    .toHaveValue("matrix");
});

test("begins with the patch in the middle within windows, whose other tokens are padding", () => {
  const tokens = { labels: ["[PAD 1]", "0,0", "0,1"], special: [0] };
  const grid = { rows: 1, columns: 2, of: [null, 0, 1] };
  const first = (blocks: [number, number] | null) =>
    firstQuery(
      { queries: tokens } as never,
      { program: { mask: "none", blocks } } as never,
      [0],
      grid,
    );
  expect([first([3, 3]), first(null)]).toEqual([2, 0]);
});
