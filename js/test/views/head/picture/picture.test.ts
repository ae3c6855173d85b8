/** The head view of a vision model shows attention on the image. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { readManifest } from "../../../../src/data/read-manifest.ts";
import { focus, parts } from "../../../support/locators.ts";
import { type App, find, mountApp, pixel } from "../../../support/mounted.ts";
import { weightAt } from "../../../support/numbers.ts";
import { CROPS, GRID, IMAGE, LABELS, PATCHES, pictured } from "../../../support/pictured.ts";
import { expectNoProblems } from "../../../support/problems.ts";

expectNoProblems();

const { status, swatches } = parts();

const grid = (name: "Queries" | "Keys") => page.getByRole("grid", { name, exact: true });
const withoutPatch = (name: "Queries" | "Keys") =>
  page.getByRole("listbox", { name: `${name} without a patch` }).getByRole("option");
const rows = () =>
  page
    .getByRole("list", { name: /^Strongest/ })
    .getByRole("listitem")
    .elements()
    .map(({ textContent }) => textContent);
const mapOf = (head: number) => page.getByRole("button", { name: new RegExp(`^Head ${head},`) });

/** The middle of a patch, in CSS pixels from the corner of its grid. */
function middle(name: "Queries" | "Keys", patch: number) {
  const { width, height } = grid(name).element().getBoundingClientRect();
  const [row, column] = [Math.floor(patch / 4), patch % 4];
  return { x: ((column + 0.5) * width) / 4, y: ((row + 0.5) * height) / 2 };
}

const at = (app: App, name: "Queries" | "Keys", patch: number) => {
  const canvas = find<HTMLCanvasElement>(app, `[aria-label=${name}] canvas`);
  const { x, y } = middle(name, patch);
  return pixel(canvas, x, y);
};

const names = LABELS;
const weight = (value: number) => value.toFixed(3);

describe("without special tokens", () => {
  test("[CLS] is not there, and its share is said to be left out", async () => {
    const app = await mountApp({ record: pictured(), choices: { query: 4, head: 2, heads: [2] } });
    await expect.poll(rows).toContainEqual(expect.stringContaining("[CLS]"));
    await userEvent.click(page.getByRole("button", { name: "Hide special" }));
    expect(app.state.segments.value).toBe("content");
    await expect.poll(() => rows().join()).not.toContain("[CLS]");
    expect(withoutPatch("Keys").elements()).toEqual([]);
    const kept = LABELS.slice(1).map((_, n) => n + 1);
    const row = (query: number) => kept.reduce((sum, key) => sum + weightAt(0, 2, query, key), 0);
    const share = (100 * kept.reduce((sum, query) => sum + row(query), 0)) / kept.length;
    await expect
      .poll(() => find(app, ".about").textContent)
      .toContain(`${Math.floor(10 * share) / 10}% of attention shown`);
  });
});

describe("with a query locked", () => {
  test("lists its strongest keys, with the weights of the record", async () => {
    await mountApp({ record: pictured(), choices: { query: 4, head: 2 } });
    const expected = names
      .map((name, key) => ({ name: key === 4 ? `${name} itself` : name, key }))
      .sort((a, b) => weightAt(0, 2, 4, b.key) - weightAt(0, 2, 4, a.key))
      .map(({ name, key }) => `${name}${weight(weightAt(0, 2, 4, key))}`);
    await expect.poll(() => rows().slice(0, 5)).toEqual(expected.slice(0, 5));
    await expect
      .element(withoutPatch("Keys"))
      .toHaveAccessibleName(`[CLS], weight ${weight(weightAt(0, 2, 4, 0))}`);
  });

  test("shows the image where it looks, and hides it elsewhere", async () => {
    const app = await mountApp({ record: pictured(), choices: { query: 4, head: 2 } });
    await expect.poll(() => at(app, "Queries", 0)[0]).toBeGreaterThan(180);
    const order = [0, 1, 2, 4, 5, 6, 7]
      .map((patch) => ({ patch, weight: weightAt(0, 2, 4, patch + 1) }))
      .sort((a, b) => b.weight - a.weight);
    const veiled = ({ patch }: { patch: number }) => at(app, "Keys", patch)[1];
    // The green of red and blue is low; a veil of the white background adds to it.
    await expect.poll(() => veiled(order[0])).toBeLessThan(60);
    expect(veiled(order[6])).toBeGreaterThan(veiled(order[0]));
    expect(order.map(veiled)).toEqual(order.map(veiled).sort((a, b) => a - b));
  });
});

describe("the numbers of a query", () => {
  const entropy = (app: App) => find(app, ".picture-numbers dd").textContent;
  const isShown = (app: App) => find(app, ".picture-numbers").style.visibility === "";
  const choices = { query: 4, head: 2 };

  test("are of its whole row, also without special tokens", async () => {
    const app = await mountApp({
      record: pictured(),
      choices: { ...choices, segments: "content" },
    });
    const row = names.map((_, key) => weightAt(0, 2, 4, key));
    const whole = row.reduce((sum, each) => sum - each * Math.log(each), 0);
    await expect.poll(() => isShown(app)).toBe(true);
    expect(Math.abs(Number(entropy(app)?.split(" ")[0]) - whole)).toBeLessThan(0.06);
  });

  test("are not there for the largest of several heads, which are no shares", async () => {
    const app = await mountApp({ record: pictured(), choices: { ...choices, combine: "mean" } });
    await expect.poll(() => isShown(app)).toBe(true);
    app.state.combine.value = "max";
    await expect.poll(() => isShown(app)).toBe(false);
  });
});

describe("the pointer", () => {
  test("looks from a patch of the queries", async () => {
    const app = await mountApp({ record: pictured(), choices: { heads: [1], head: 1 } });
    await expect.element(grid("Queries")).toBeVisible();
    await userEvent.hover(grid("Queries"), { position: middle("Queries", 6) });
    await expect.poll(() => app.state.focus.value).toEqual({ query: 7, key: null });
    expect(status()).toContain("Layer 0 · Head 1  1,2 →");
    await userEvent.click(grid("Queries"), { position: middle("Queries", 6) });
    expect(app.state.query.value).toBe(7);
  });

  test("looks at a patch of the keys", async () => {
    const app = await mountApp({ record: pictured(), choices: { head: 1 } });
    await expect.element(grid("Keys")).toBeVisible();
    await userEvent.hover(grid("Keys"), { position: middle("Keys", 3) });
    await expect.poll(() => app.state.focus.value).toEqual({ query: null, key: 4 });
    expect(status()).toContain("0,3 ←");
    await expect.element(page.getByRole("list", { name: "Strongest queries" })).toBeVisible();
    await expect
      .element(withoutPatch("Queries"))
      .toHaveAccessibleName(`[CLS], weight ${weight(weightAt(0, 1, 0, 4))}`);
  });

  test("locks a pair from the list", async () => {
    const app = await mountApp({ record: pictured(), choices: { query: 4 } });
    const [first] = names
      .map((_, key) => key)
      .sort((a, b) => weightAt(0, 0, 4, b) - weightAt(0, 0, 4, a));
    await userEvent.click(page.getByRole("listitem").first());
    await expect.poll(() => app.state.key.value).toBe(first);
    expect(app.state.query.value).toBe(4);
  });
});

describe("the keyboard", () => {
  test("moves from patch to patch, and to [CLS]", async () => {
    const app = await mountApp({ record: pictured(), choices: { query: 1 } });
    await expect.element(grid("Queries")).toBeVisible();
    focus(grid("Queries"));
    const cell = () => page.getByRole("gridcell").first();
    await userEvent.keyboard("{ArrowDown}{ArrowRight}{ArrowRight}{ArrowLeft}");
    await expect.element(cell()).toHaveAccessibleName("row 1, column 1");
    expect(app.state.focus.value).toEqual({ query: 6, key: null });
    await userEvent.keyboard("{ArrowDown}{Enter}");
    expect(app.state.also.value.concat(app.state.query.value ?? [])).toContain(6);
    await userEvent.keyboard("C");
    expect(app.state.focus.value).toEqual({ query: 0, key: null });
    await userEvent.keyboard("{Escape}");
    expect([app.state.query.value, app.state.also.value]).toEqual([null, []]);
  });
});

describe("maps of the heads", () => {
  test("say where each looks, and choose one", async () => {
    const app = await mountApp({ record: pictured(), choices: { query: 4 } });
    const [, ...onPicture] = [...LABELS.keys()].filter((key) => key !== 4);
    const largest = Math.max(...onPicture.map((key) => weightAt(0, 3, 4, key)));
    await expect
      .element(mapOf(3))
      .toHaveAccessibleName(
        `Head 3, [CLS] ${weight(weightAt(0, 3, 4, 0))}, largest of a patch ${weight(largest)}`,
      );
    await userEvent.click(mapOf(3));
    expect(app.state.head.value).toBe(3);
    await expect.element(mapOf(3)).toHaveAttribute("aria-pressed", "true");
  });

  test("say the largest weight where every token has a patch", async () => {
    const of = [...LABELS.keys()];
    const record = pictured(IMAGE, {
      ...PATCHES,
      grids: [{ ...GRID, rows: 3, columns: 3 }],
      of,
    });
    const app = await mountApp({ record, choices: { query: 4 } });
    await expect.element(mapOf(3)).toBeVisible();
    const largest = Math.max(...of.map((key) => (key === 4 ? 0 : weightAt(0, 3, 4, key))));
    const captions = [...app.shadow.querySelectorAll(".map .number")];
    await expect
      .poll(() => captions[3].textContent)
      .toBe(`max ${largest.toFixed(2).replace(/^0/, "")}`);
  });

  test("give way to swatches where heads are combined", async () => {
    await mountApp({ record: pictured(), choices: { combine: "mean" } });
    await expect.poll(() => swatches.elements().length).toBe(4);
    expect(mapOf(0).elements()).toEqual([]);
  });
});

test("tokens of a text around it are single, also where words are chosen", async () => {
  const record = pictured();
  const words = { labels: ["a", ...LABELS.slice(2)], of: [0, 0, 1, 2, 3, 4, 5, 6, 7] };
  Object.assign(record.manifest.stacks[0].queries, { words });
  await mountApp({ record, choices: { query: 4, words: true } });
  await expect
    .element(withoutPatch("Keys"))
    .toHaveAccessibleName(`[CLS], weight ${weight(weightAt(0, 0, 4, 0))}`);
  expect(page.getByRole("button", { name: "Words" }).elements()).toEqual([]);
});

test("the lines stay within reach", async () => {
  const app = await mountApp({ record: pictured() });
  await userEvent.selectOptions(page.getByRole("combobox", { name: "Keys" }), "List");
  await expect.element(page.getByRole("listbox", { name: "Keys", exact: true })).toBeVisible();
  expect(app.state.picture.value).toBe(false);
  expect(find(app, ".about").textContent).toContain("2 × 4 patches + [CLS]");
});

test("a text has no such choice", async () => {
  await mountApp();
  await expect.element(parts().list("Keys")).toBeVisible();
  expect(page.getByRole("combobox", { name: "Keys" }).elements()).toEqual([]);
});

describe("several grids", () => {
  const options = () => page.getByRole("listbox", { name: "Images" }).getByRole("option");
  const sum = (tokens: readonly number[], query: number) =>
    tokens.reduce((all, key) => all + weightAt(0, 2, query, key), 0);
  const percent = (share: number) =>
    share < 0.0995 ? `${(100 * share).toFixed(1)}%` : `${Math.round(100 * share)}%`;

  test("are small pictures with their shares, of which one is shown", async () => {
    const record = pictured(IMAGE, CROPS);
    const app = await mountApp({ record, choices: { query: 8, head: 2, heads: [2] } });
    await expect
      .poll(() =>
        options()
          .elements()
          .map((each) => each.textContent),
      )
      .toEqual([`whole${percent(sum([1, 2, 3, 4], 8))}`, `crop 1${percent(sum([5, 6, 7], 8))}`]);
    expect(
      options()
        .elements()
        .map((each) => each.ariaSelected),
    ).toEqual(["true", "false"]);
    // The last token is a word here: a chip; those of the other grid are none.
    await expect.poll(() => withoutPatch("Keys").elements().length).toBe(2);
    expect(find(app, ".about").textContent).toContain("2 × (2 × 2) patches + [CLS] + 1,3");
    // Of a key, they are the shares of the queries that look at it.
    await userEvent.hover(grid("Keys"), { position: { x: 4, y: 4 } });
    const [all, part] = [LABELS.keys(), [5, 6, 7]].map((queries) =>
      [...queries].reduce((sum, query) => sum + weightAt(0, 2, query, 1), 0),
    );
    await expect.element(options().last()).toHaveAccessibleName(`crop 1 ${percent(part / all)}`);
    await userEvent.click(options().last());
    expect(app.state.grid.value).toBe(1);
    await expect.poll(() => options().elements()[1].ariaSelected).toBe("true");
    expect(withoutPatch("Keys").elements().length).toBe(2);
    await expect.poll(() => rows().some((row) => row?.includes("whole"))).toBe(true);
  });

  test("are chosen by the keyboard, which stays there", async () => {
    const app = await mountApp({ record: pictured(IMAGE, CROPS) });
    const list = page.getByRole("listbox", { name: "Images" });
    await expect.element(list).toBeVisible();
    focus(list);
    await userEvent.keyboard("{ArrowRight}{ArrowRight}");
    expect(app.state.grid.value).toBe(1);
    await userEvent.keyboard("{ArrowLeft}");
    await expect.poll(() => app.state.grid.value).toBe(0);
  });

  test("a patch without a token is passed by, and the padding has no image", async () => {
    const app = await mountApp({
      record: pictured(IMAGE, CROPS),
      choices: { grid: 1, query: 5, head: 2 },
    });
    await expect.element(grid("Queries")).toBeVisible();
    const canvas = find<HTMLCanvasElement>(app, "[aria-label=Queries] canvas");
    const { width, height } = grid("Queries").element().getBoundingClientRect();
    await expect.poll(() => pixel(canvas, width * 0.6, height * 0.9)[0]).toBeGreaterThan(180);
    expect(pixel(canvas, width * 0.6, height * 0.2)).toEqual([128, 128, 128, 255]);
    focus(grid("Queries"));
    await userEvent.keyboard("{ArrowDown}{ArrowRight}");
    // There is no token on the last patch.
    expect(app.state.focus.value).toEqual({ query: 7, key: null });
    await userEvent.click(grid("Queries"), { position: { x: width * 0.75, y: height * 0.75 } });
    expect(app.state.query.value).toBe(5);
  });

  test("of the keys alone stand beside a list of the queries", async () => {
    const record = pictured(IMAGE, CROPS);
    const { stacks } = record.manifest as unknown as { stacks: Record<string, object>[] };
    const words = LABELS.map((_, at) => `word${at}`);
    const queries = { labels: words, segments: null, special: [], words: null, patches: null };
    Object.assign(stacks[0], { queries, keys: stacks[0].queries });
    const app = await mountApp({ record, choices: { head: 2 } });
    await expect.element(grid("Keys")).toBeVisible();
    expect(grid("Queries").elements()).toEqual([]);
    expect(
      withoutPatch("Queries")
        .elements()
        .map(({ textContent }) => textContent),
    ).toEqual(words);
    // The last word looks, until another is pointed at.
    await expect
      .element(withoutPatch("Keys").first())
      .toHaveAccessibleName(`[CLS], weight ${weight(weightAt(0, 2, 8, 0))}`);
    await userEvent.click(withoutPatch("Queries").nth(3));
    expect(app.state.query.value).toBe(3);
    await userEvent.hover(grid("Keys"), { position: { x: 4, y: 4 } });
    await expect.element(page.getByRole("list", { name: "Strongest queries" })).toBeVisible();
  });
});

describe("a damaged image", () => {
  const png = btoa(`\x89PNG\r\n\x1a\n${"\0".repeat(40)}`);
  const huge = btoa(atob(IMAGE).replace("\x2a\x40\x00\x20\x00", "\x2a\xff\x3f\xff\x3f"));
  test.for([7, "", "RIFF", png, huge])("is refused: %s", (image) => {
    expect(() => readManifest(pictured(image).manifest)).toThrow(
      "its manifest.images[0] is not valid",
    );
  });

  test.for([
    ["grids", { grids: [] }],
    ["grids[0].rows", { grids: [{ ...GRID, rows: 0 }] }],
    ["grids[0].columns", { grids: [{ ...GRID, columns: 2 ** 30 }] }],
    ["grids", { grids: [{ ...GRID, rows: 2 ** 11, columns: 2 ** 11 }] }],
    ["grids[0].box", { grids: [{ ...GRID, box: [0, 0, 0, 1] }] }],
    ["grids[0].box", { grids: [{ ...GRID, box: [0, 0, 1] }] }],
    ["of", { of: [0] }],
    ["of", { of: [null, 0, 0, 2, 3, 4, 5, 6, 7] }],
    ["of", { of: Array(9).fill(null) }],
    ["of[1]", { of: [null, 8, 1, 2, 3, 4, 5, 6, 7] }],
    ["soft", { soft: 1 }],
  ] as const)("and so are places: %s", ([where, change]) => {
    const { manifest } = pictured(IMAGE, { ...PATCHES, ...change });
    expect(() => readManifest(manifest)).toThrow(
      `its manifest.stacks[0].queries.patches.${where} is not valid`,
    );
  });

  test("leaves the shades of the patches", async () => {
    const broken = IMAGE.slice(0, 44) + "A".repeat(IMAGE.length - 44);
    const app = await mountApp({ record: pictured(broken), choices: { query: 4 } });
    await expect.poll(() => at(app, "Keys", 3)[3]).toBe(255);
  });
});
