/** The neuron view of a long text: the rows in sight, and the softmax over all keys beside them. */

import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { Block } from "../../../src/data/codec.ts";
import { compared } from "../../support/compared.ts";
import { focus, parts } from "../../support/locators.ts";
import { type App, find, mountApp, painted, pixel } from "../../support/mounted.ts";
import { twoFrames } from "../../support/place.ts";
import { expectNoProblems } from "../../support/problems.ts";
import { saved } from "../../support/saved.ts";
import { RECORD, type SentRecord, withStacks } from "../../support/vectors.ts";

expectNoProblems();

const { list, status } = parts();
const HEADS = 4;
const DIM = 4;
/** Keys that every query attends to most, in order. */
const STRONGEST = [310, 77, 200];

type Layers = { stacks: { layers: { heads: number; program: object }[] }[] };

function recordOf(tokens: number, targets: number, mask: string): SentRecord {
  const [first] = (RECORD.manifest as Layers).stacks[0].layers;
  const layer = { ...first, program: { ...first.program, mask } };
  const textOf = (count: number) => {
    const labels = Array.from({ length: count }, (_, at) => `t${at}`);
    return { labels, segments: null, special: [], words: null };
  };
  const keys = targets === tokens ? null : textOf(targets);
  const stacks = [{ name: "self", queries: textOf(tokens), keys, layers: [layer] }];
  const overview = btoa("\0".repeat((HEADS * 32 ** 2) / 2));
  return { manifest: withStacks(stacks), overview, levels: [], blocks: {} };
}

function blockOf(tokens: number, targets: number): Block {
  const queries = new Float32Array(HEADS * tokens * DIM).fill(1);
  const keys = new Float32Array(HEADS * targets * DIM);
  for (let at = 0; at < HEADS * targets; at++) keys[at * DIM] = -0.001 * (at % targets);
  for (let head = 0; head < HEADS; head++) {
    STRONGEST.forEach((key, rank) => {
      if (key < targets) keys[(head * targets + key) * DIM + 1] = 24 - 2 * rank;
    });
  }
  const part = (name: string, count: number) =>
    ({ name, dtype: "f32", shape: [HEADS, count, DIM] }) as const;
  return {
    parts: [part("queries", tokens), part("keys", targets)],
    buffers: [new Uint8Array(queries.buffer), new Uint8Array(keys.buffer)],
  };
}

interface Sides {
  readonly targets?: number;
  readonly mask?: string;
}

/** @param sides how many keys there are, and which of them a query sees. */
async function mountLong(
  tokens = 400,
  choices = {},
  { targets = tokens, mask = "none" }: Sides = {},
): Promise<App> {
  const app = await mountApp({
    record: recordOf(tokens, targets, mask),
    source: { block: async () => blockOf(tokens, targets) },
    choices: { view: "neuron", ...choices },
  });
  await expect.element(list("Keys")).toBeVisible();
  await twoFrames();
  return app;
}

const canvas = (app: App) => find<HTMLCanvasElement>(app, ".neurons canvas");
const strip = (app: App) => find<HTMLCanvasElement>(app, ".softmax-strip canvas");
const body = (app: App) => find(app, ".body");
const labels = () => list("Keys").getByRole("option").elements();

/** True if a key is visible below the names of the columns. */
function inSight(app: App, label: string): boolean {
  const option = labels().find((one) => one.textContent === label);
  if (!option) return false;
  const [inner, outer] = [option.getBoundingClientRect(), body(app).getBoundingClientRect()];
  return inner.top >= outer.top + 40 && inner.bottom <= outer.bottom;
}

test("a longer text has as many elements, and as large a picture", async () => {
  const size = (app: App) => [app.shadow.querySelectorAll("*").length, canvas(app).height];
  const app = await mountLong(400);
  const before = size(app);
  app.unmount();
  expect(size(await mountLong(1600))).toEqual(before);
});

test("it begins where the query is that is explained", async () => {
  const app = await mountLong(400);
  expect(inSight(app, "t0")).toBe(true);
  app.unmount();
  // The last, of those who see only what was before them.
  expect(inSight(await mountLong(400, {}, { mask: "causal" }), "t399")).toBe(true);
});

describe("a text of 100 tokens", () => {
  test("has an option for every token in sight, and others when they come into sight", async () => {
    const app = await mountLong(100);
    expect(labels().length).toBeLessThan(80);
    expect(labels()[0].getAttribute("aria-setsize")).toBe("100");
    expect(app.shadow.querySelector(".softmax-strip")).toBeNull();
    focus(list("Keys"));
    await userEvent.keyboard("{End}");
    expect(app.state.hover.value).toEqual({ query: null, key: 99 });
    expect(inSight(app, "t99")).toBe(true);
  });

  test("is whole in a figure", async () => {
    const app = await mountLong(100);
    const texts = [...(await saved(app)).querySelectorAll("text")].map((one) => one.textContent);
    for (let at = 0; at < 100; at++) {
      const [query, key] = texts.filter((text) => text === `t${at}`);
      expect([query, key]).toEqual([`t${at}`, `t${at}`]);
    }
    expect(labels().length).toBeLessThan(80);
  });

  test("is whole in a figure of two records", async () => {
    const { manifest } = compared(undefined, recordOf(100, 100, "none"));
    // The heads of both, and their differences.
    const overview = btoa("\0".repeat((3 * HEADS * 32 ** 2) / 2));
    const app = await mountApp({
      record: { manifest, overview, levels: [], blocks: {} },
      source: { block: async () => blockOf(100, 100) },
      choices: { view: "neuron", compared: "difference" },
    });
    await expect.poll(() => app.shadow.querySelectorAll(".neurons").length).toBe(2);
    await twoFrames();
    const texts = [...(await saved(app)).querySelectorAll("text")].map((one) => one.textContent);
    expect(texts.filter((text) => text === "t99")).toHaveLength(4);
  });
});

test("a short text is drawn in full, with nothing beside it", async () => {
  const app = await mountApp({ choices: { view: "neuron" } });
  await expect.element(list("Keys")).toBeVisible();
  expect(app.shadow.querySelector(".softmax-strip")).toBeNull();
  await expect.element(page.getByRole("button", { name: "Strongest key" })).not.toBeInTheDocument();
});

describe("scrolled", () => {
  test("has the rows that are there, under the pointer as in words", async () => {
    const app = await mountLong();
    body(app).scrollTop = 200 * 16;
    await twoFrames();
    expect(inSight(app, "t0")).toBe(false);
    const option = labels().find((one) => one.textContent === "t215") as Element;
    const { top, height } = option.getBoundingClientRect();
    const stage = find(app, ".neurons").getBoundingClientRect();
    const place = { clientX: stage.right - 200, clientY: top + height / 2, bubbles: true };
    canvas(app).dispatchEvent(new PointerEvent("pointermove", place));
    expect(app.state.hover.value).toEqual({ query: null, key: 215 });
    await expect.poll(status).toContain("t0 → t215 ");
    // The row is framed where the token is.
    const picture = canvas(app).getBoundingClientRect();
    const frame = [top + 1, top + height / 2].map(
      (y) => pixel(canvas(app), place.clientX - picture.left, y - picture.top)[3],
    );
    expect(frame[0]).toBeGreaterThan(frame[1]);
  });

  test("computes nothing but what the query needs", async () => {
    const app = await mountLong(1600);
    const layer = app.store.stack("self").layer(0).value;
    if (layer.status !== "ready") throw new Error("The layer is not there.");
    const asked = vi.spyOn(layer.data, "scoreRow");
    body(app).scrollTop = 9000;
    await twoFrames();
    expect(asked).not.toHaveBeenCalled();
    app.state.hover.value = { query: 600, key: null };
    expect(asked).toHaveBeenCalledTimes(1);
  });
});

describe("the strongest keys", () => {
  test("come one after the other, and into sight", async () => {
    const app = await mountLong();
    const button = page.getByRole("button", { name: "Strongest key", exact: true });
    for (const key of STRONGEST) {
      await userEvent.click(button);
      expect([app.state.query.value, app.state.key.value]).toEqual([0, key]);
      await twoFrames();
      expect(inSight(app, `t${key}`)).toBe(true);
    }
    focus(list("Keys"));
    await userEvent.keyboard("J");
    expect(app.state.key.value).toBe(STRONGEST[1]);
    await userEvent.keyboard("j");
    expect(app.state.key.value).toBe(STRONGEST[2]);
  });

  test("are those of the query that is explained", async () => {
    const app = await mountLong(400, { query: 5 });
    focus(list("Keys"));
    await userEvent.keyboard("j");
    expect([app.state.query.value, app.state.key.value]).toEqual([5, STRONGEST[0]]);
  });
});

describe("the softmax over all keys", () => {
  /** Keys share bars of two pixels. */
  const at = (app: App, key: number) => {
    const bars = Math.ceil(strip(app).getBoundingClientRect().height / 2);
    return { x: 18, y: 2 * Math.floor((key * bars) / 400) + 1 };
  };

  test("is darkest where the weight is", async () => {
    const app = await mountLong();
    const dark = (key: number) => pixel(strip(app), at(app, key).x, at(app, key).y)[3];
    expect(dark(STRONGEST[0])).toBeGreaterThan(dark(STRONGEST[1]));
    expect(dark(STRONGEST[1])).toBeGreaterThan(dark(250));
  });

  test("answers to the pointer with the strongest key near it, and goes there", async () => {
    const app = await mountLong();
    const place = at(app, STRONGEST[0]);
    await userEvent.hover(strip(app), { position: { ...place } });
    expect(app.state.hover.value).toEqual({ query: null, key: STRONGEST[0] });
    expect(inSight(app, `t${STRONGEST[0]}`)).toBe(false);
    await userEvent.click(strip(app), { position: { ...place } });
    await twoFrames();
    expect(inSight(app, `t${STRONGEST[0]}`)).toBe(true);
  });
});

test("what is found comes into sight", async () => {
  const app = await mountLong();
  await userEvent.fill(page.getByRole("searchbox", { name: "Find token" }), "t333");
  await twoFrames();
  expect(inSight(app, "t333")).toBe(true);
});

test("without vectors, the curves of the query explained are drawn", async () => {
  const app = await mountLong(400, { expanded: false, query: 70 });
  await twoFrames();
  expect(inSight(app, "t70")).toBe(true);
  expect(painted(canvas(app))).toBeGreaterThan(500);
  await expect.element(page.getByText("of t70", { exact: true })).toBeVisible();
});

describe.for([
  [12, 400],
  [400, 12],
] as const)("%i queries and %i keys", ([queries, keys]) => {
  test("are drawn also where the shorter column has ended", async () => {
    const app = await mountLong(queries, {}, { targets: keys });
    body(app).scrollTop = 300 * 16;
    await twoFrames();
    expect(painted(canvas(app))).toBeGreaterThan(500);
    const long = queries > keys ? "Queries" : "Keys";
    await expect.element(list(long).getByRole("option").first()).toHaveTextContent(/t2\d\d/);
  });
});
