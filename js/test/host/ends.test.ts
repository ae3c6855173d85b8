/** The end of a widget's life, and its messages if it cannot start. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { VERSION } from "../../src/data/read-manifest.ts";
import { twoFrames } from "../support/place.ts";
import { expectNoProblems } from "../support/problems.ts";
import { RECORD } from "../support/vectors.ts";
import { modelOf, press, rendered } from "./rendered.ts";

expectNoProblems();

describe("the clean-up", () => {
  test("takes away every listener, and the view", async () => {
    const model = modelOf();
    expect(model.listening).toBe(0);
    const { el, cleanup } = await rendered(model);
    expect(model.listening).toBeGreaterThan(0);
    cleanup();
    expect(model.listening).toBe(0);
    expect(el.childNodes.length).toBe(0);
  });

  test("ends what is on its way, in both directions", async () => {
    const model = modelOf();
    const { root, cleanup } = await rendered(model);
    press(root, ".");
    const [{ id }] = model.sent;
    cleanup();
    expect(model.sent.slice(1)).toEqual([{ op: "abort", of: [id] }]);
    press(root, ".");
    await twoFrames();
    // The change before the clean-up still arrives.
    expect(model.saved).toEqual([{ head: 1 }]);
    expect(model.get("head")).toBe(1);
  });
});

test("a view that goes away during the tour leaves the choices as they were", async () => {
  const model = modelOf({ query: 2, heads: [0, 1] });
  const { root, cleanup } = await rendered(model);
  press(root, "?");
  await userEvent.click(page.getByRole("button", { name: "Show me around" }));
  await userEvent.click(page.getByRole("button", { name: "Next" }));
  await twoFrames();
  expect(model.get("heads")).toEqual([0]);
  cleanup();
  expect([model.get("heads"), model.get("query")]).toEqual([[0, 1], 2]);
  expect(Object.assign({}, ...model.saved)).toMatchObject({ heads: [0, 1] });
});

describe("what cannot be shown", () => {
  test("a record of another version of attnwidget says so", async () => {
    const manifest = { ...(RECORD.manifest as object), version: VERSION + 1 };
    const { alert } = await rendered(modelOf({ _manifest: manifest }));
    await expect.element(alert).toHaveTextContent("another version of attnwidget");
  });

  test.for([{ manifest: null }, { manifest: {} }])(
    "a manifest like $manifest is an alert, not an empty cell",
    async ({ manifest }) => {
      const { alert, cleanup } = await rendered(modelOf({ _manifest: manifest }));
      await expect.element(alert).toHaveTextContent("This is not an attnwidget record.");
      cleanup();
    },
  );
});
