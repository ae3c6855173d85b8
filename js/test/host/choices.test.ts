/** Choices are the same in the view and in the kernel. */

import { describe, expect, test } from "vitest";
import { userEvent } from "vitest/browser";
import { NAMES, strongest, weightAt } from "../support/numbers.ts";
import { twoFrames } from "../support/place.ts";
import { expectNoProblems } from "../support/problems.ts";
import { OVERVIEW, RECORD } from "../support/vectors.ts";
import { answer, embedded, modelOf, press, rendered, sentBlock } from "./rendered.ts";

expectNoProblems();

describe("a choice in the view", () => {
  test("arrives in the kernel", async () => {
    const model = modelOf();
    const { option } = await rendered(model);
    answer(model);
    await userEvent.click(option("Queries", 2));
    expect(model.get("query")).toBe(2);
    expect(model.saved).toEqual([{ query: 2 }]);
  });

  test("that changes several traits arrives at once", async () => {
    const model = modelOf({ layer: 2, head: 9, heads: [0, 9] });
    const { root } = await rendered(model);
    press(root, "[");
    await twoFrames();
    // Layer 1 has two heads.
    expect(model.saved).toEqual([{ layer: 1, head: 0, heads: [0] }]);
  });

  test("that is taken back at once is not worth a word", async () => {
    const model = modelOf();
    const { root } = await rendered(model);
    press(root, ".");
    press(root, ".");
    press(root, ",");
    await twoFrames();
    expect(model.saved).toEqual([{ head: 1 }]);
  });

  test("is not made by showing the view", async () => {
    const model = modelOf({ heads: [1, 2], query: 3 });
    const { list } = await rendered(model);
    answer(model);
    await expect.element(list("Queries")).toBeVisible();
    expect(model.saved).toEqual([]);
  });

  test("does not follow the pointer: hovering stays in the browser", async () => {
    const model = modelOf();
    const { option, status } = await rendered(model);
    answer(model);
    await userEvent.hover(option("Queries", 2));
    expect(status()).toContain("cat");
    expect(model.saved).toEqual([]);
  });
});

describe("a trait that the kernel changes", () => {
  test("may be the metrics that its user computed, which can then be chosen", async () => {
    const { metrics } = RECORD.manifest as { metrics: { name: string }[] };
    const own = { ...metrics[0], name: "my score", label: "my score" };
    const model = modelOf({ view: "model", color: "my score", _metrics: [own] });
    const { root } = await rendered(model);
    const colors = () => root.querySelector<HTMLSelectElement>("[aria-label='Colour by']");
    expect(colors()?.value).toBe("my score");
    model.receive("_metrics", [{ ...own, label: "another" }]);
    expect([...(colors()?.options ?? [])].at(-1)?.text).toBe("Another");
    expect(model.saved).toEqual([]);
  });

  test("arrives in the view, and is not sent back", async () => {
    const model = modelOf();
    const { spin, option, root, swatches, grid } = await rendered(model);
    answer(model);
    await expect.element(option("Queries", 0)).toBeVisible();
    model.receive("head", 3);
    await expect.element(spin("Head")).toHaveAttribute("aria-valuenow", "3");
    model.receive("query", 4);
    await expect.element(option("Queries", 4)).toHaveAttribute("aria-selected", "true");
    model.receive("heads", [0, 3]);
    await expect.element(swatches.nth(3)).toHaveAttribute("aria-pressed", "true");
    await expect.element(swatches.nth(2)).toHaveAttribute("aria-pressed", "false");
    model.receive("view", "model");
    await expect.element(grid).toBeInTheDocument();
    model.receive("theme", "dark");
    await expect.poll(() => root.dataset.theme).toBe("dark");
    expect(model.saved).toEqual([]);
  });

  test("asks for the layer that it leads to", async () => {
    const model = modelOf();
    await rendered(model);
    answer(model);
    model.receive("layer", 2);
    await expect.poll(() => model.sent.map(({ layer }) => layer)).toEqual([0, 2]);
  });

  test("asks for no layer that it only passes through", async () => {
    const model = modelOf({ _blocks: embedded(["self.combined"]) });
    const { list } = await rendered(model);
    model.receive("layer", 1);
    model.receive("layer", 2);
    answer(model);
    await expect.element(list("Queries")).not.toBeInTheDocument();
    await expect.poll(() => model.sent.map(({ layer }) => layer)).toEqual([0, 2]);
  });

  test("may come before the one that belongs to it", async () => {
    // Layer and head are two messages; between them the layer has no such head.
    const model = modelOf({
      ...{ layer: 2, head: 9, heads: [8, 9], query: 3 },
      _blocks: embedded(Object.keys(RECORD.blocks)),
    });
    const { number, list, status } = await rendered(model);
    await expect.element(list("Queries")).toBeVisible();
    model.receive("layer", 0);
    await twoFrames();
    model.receive("head", 3);
    model.receive("heads", null);
    expect(number("Head")).toBe(3);
    const expected = strongest([0, 1, 2, 3], (head, key) => weightAt(0, head, 3, key));
    await expect.poll(status).toContain(`Layer 0  ${NAMES[3]} → ${expected}`);
    expect(model.saved).toEqual([]);
  });

  test("may be a stack with fewer tokens than the one that is locked", async () => {
    const blocks = embedded(Object.keys(OVERVIEW.blocks), OVERVIEW);
    const model = modelOf({ stack: "encoder", query: 30, _blocks: blocks }, OVERVIEW);
    const { labels, status } = await rendered(model);
    await expect.poll(() => labels("Queries").length).toBe(37);
    model.receive("stack", "cross");
    await expect.poll(() => labels("Queries")).toEqual(["eins", "zwei", "drei"]);
    expect(status()).not.toMatch(/undefined|NaN/);
    model.receive("query", 2);
    await expect.poll(status).toContain("drei → ");
  });
});

describe("two views of one model", () => {
  test("share what is chosen, but not what is pointed at", async () => {
    const model = modelOf({ _blocks: embedded(["self.0"]) });
    const [one, two] = [await rendered(model), await rendered(model)];
    await expect.element(one.option("Queries", 1)).toBeVisible();
    await expect.element(two.option("Queries", 1)).toBeVisible();
    await userEvent.hover(one.option("Queries", 2));
    expect(one.status()).toContain("cat →");
    expect(two.status()).not.toContain("cat →");
    await userEvent.click(one.option("Queries", 2));
    await expect.element(two.option("Queries", 2)).toHaveAttribute("aria-selected", "true");
    expect(model.saved).toEqual([{ query: 2 }]);
  });

  test("hear their own replies", async () => {
    const model = modelOf();
    const [one, two] = [await rendered(model), await rendered(model)];
    expect(model.sent.length).toBe(2);
    const { parts, buffers } = sentBlock("self.0");
    model.deliver({ id: model.sent[1].id, parts }, buffers);
    await expect.element(two.list("Queries")).toBeVisible();
    expect(one.list("Queries").elements()).toEqual([]);
    answer(model);
    await expect.element(one.list("Queries")).toBeVisible();
  });

  test("end each for itself", async () => {
    const model = modelOf({ _blocks: embedded(["self.0"]) });
    const [one, two] = [await rendered(model), await rendered(model)];
    await expect.element(two.list("Queries")).toBeVisible();
    one.cleanup();
    expect(one.el.childElementCount).toBe(0);
    model.receive("head", 2);
    await expect.element(two.spin("Head")).toHaveAttribute("aria-valuenow", "2");
  });
});
