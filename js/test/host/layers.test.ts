/** A widget's layers come from its own state, else from the kernel. */

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { page } from "vitest/browser";
import { NAMES, strongest, weightAt } from "../support/numbers.ts";
import { twoFrames } from "../support/place.ts";
import { expectNoProblems } from "../support/problems.ts";
import { RECORD } from "../support/vectors.ts";
import { answer, embedded, modelOf, press, rendered } from "./rendered.ts";

expectNoProblems();

describe("layers", () => {
  test("come from the kernel: one request, and its reply is shown", async () => {
    const model = modelOf({ layer: 2, heads: [3], query: 5 });
    const { list, status } = await rendered(model);
    expect(model.sent.map(({ op, stack, layer }) => [op, stack, layer])).toEqual([
      ["block", "self", 2],
    ]);
    answer(model);
    await expect.element(list("Queries")).toBeVisible();
    expect(status()).toContain(strongest([3], (head, key) => weightAt(2, head, 5, key)));
    expect(model.sent.filter(({ layer }) => layer === 2).length).toBe(1);
  });

  test("that are embedded are shown without a word to the kernel", async () => {
    const model = modelOf({ _blocks: embedded(Object.keys(RECORD.blocks)) });
    const { list, root } = await rendered(model);
    await expect.element(list("Queries")).toBeVisible();
    press(root, "]");
    await twoFrames();
    expect(model.sent).toEqual([]);
  });

  test("come from both, where some are embedded", async () => {
    const model = modelOf({ _blocks: embedded(["self.0"]) });
    const { list, root } = await rendered(model);
    await expect.element(list("Queries")).toBeVisible();
    press(root, "]");
    await expect.poll(() => model.sent.map(({ layer }) => layer)).toEqual([1]);
  });

  test("have their rollout from the kernel", async () => {
    const model = modelOf({ lens: "rollout", layer: 1, query: 5, _blocks: embedded(["self.1"]) });
    const { status } = await rendered(model);
    const asked = () => model.sent.map(({ op, stack, layer }) => [op, stack, layer]);
    await expect.poll(asked).toEqual([["lens", "self", 1]]);
    const numbers = Int16Array.from({ length: 81 }, (_, n) => (n * 11) % 81);
    const parts = [
      { name: "numbers", dtype: "i16", shape: [1, 9, 9] },
      { name: "steps", dtype: "f32", shape: [1] },
    ];
    const buffers = [numbers, Float32Array.of(1 / 8100)].map(({ buffer }) => new DataView(buffer));
    model.deliver({ id: model.sent[0].id, parts }, buffers);
    const row = [...numbers.slice(45, 54)].map((number) => number / 8100);
    const [first] = row.map((value, key) => ({ value, key })).sort((a, b) => b.value - a.value);
    const largest = `${NAMES[5]} → ${NAMES[first.key]} ${first.value.toFixed(3)}`;
    await expect.poll(status).toContain(`Rollout of layers 0–1  ${largest}`);
  });

  test("that the kernel cannot give are explained in its own words", async () => {
    const model = modelOf();
    const { alert } = await rendered(model);
    model.deliver({ id: model.sent[0].id, error: "layer 0 was thrown away" });
    await expect.element(alert).toHaveTextContent("layer 0 was thrown away");
  });

  test("that cannot be asked for, as after a restart, say what to do", async () => {
    const model = modelOf();
    model.send = () => {
      throw new Error("Cannot send");
    };
    const { alert } = await rendered(model);
    await expect.element(alert).toHaveTextContent("run the cell again");
  });
});

describe("without a kernel", () => {
  test("a polite line says what is missing, and nothing is sent", async () => {
    const model = modelOf();
    const { alert } = await rendered(model, { disconnected: true });
    await expect.element(alert).toHaveTextContent("Layer 0 is not saved in this page");
    await expect.element(alert).toHaveTextContent("widget.embed()");
    expect(model.sent).toEqual([]);
  });

  test("nor in a page that marimo has exported, which loses what is sent", async () => {
    vi.stubGlobal("__MARIMO_STATIC__", { files: {} });
    onTestFinished(() => {
      vi.unstubAllGlobals();
    });
    const model = modelOf();
    const { alert } = await rendered(model);
    await expect.element(alert).toHaveTextContent("Layer 0 is not saved in this page");
    expect(model.sent).toEqual([]);
  });

  test("the model view works", async () => {
    const model = modelOf({ view: "model" });
    const { alert, cell } = await rendered(model, { disconnected: true });
    await expect.element(cell(2, 9)).toBeVisible();
    expect(alert.elements()).toEqual([]);
  });

  test("embedded layers work", async () => {
    const model = modelOf({ _blocks: embedded(["self.0"]) });
    const { list } = await rendered(model, { disconnected: true });
    await expect.element(list("Keys")).toBeVisible();
  });

  test("what is saved is named where something else is asked for", async () => {
    const model = modelOf({ layer: 1, _blocks: embedded(["self.0", "self.2"]) });
    const { alert } = await rendered(model, { disconnected: true });
    await expect.element(alert).toHaveTextContent("which has layers 0, 2, and no kernel");
  });

  test("the kernel's word on what it saved is a note", async () => {
    const model = modelOf({
      _note: "Saved with this notebook: layer 0",
      _blocks: embedded(["self.0"]),
    });
    await rendered(model, { disconnected: true });
    const note = page.getByRole("note").nth(1);
    await expect.element(note).toHaveTextContent("Saved with this notebook: layer 0");
    model.receive("_note", "All 3 layers are saved with this notebook");
    await expect.element(note).toHaveTextContent("All 3 layers are saved with this notebook");
  });

  test("layers that are embedded later appear", async () => {
    const model = modelOf();
    const { alert, list } = await rendered(model, { disconnected: true });
    await expect.element(alert).toBeVisible();
    model.receive("_blocks", embedded(["self.0"]));
    await expect.element(list("Queries")).toBeVisible();
    expect(alert.elements()).toEqual([]);
  });
});
