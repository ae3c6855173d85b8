/** However fast the reader and the kernel are, nothing is lost, and little is said. */

import { expect, onTestFinished, test } from "vitest";
import { NAMES, strongest, weightAt } from "../support/numbers.ts";
import { expectNoProblems } from "../support/problems.ts";
import { modelOf, press, rendered, sentBlock } from "./rendered.ts";

expectNoProblems();

type Model = ReturnType<typeof modelOf>;

/** A kernel that answers each request a few milliseconds later, and sometimes much later. */
function kernelOf(model: Model) {
  const answered = new Set<string>();
  const timer = setInterval(() => {
    for (const { id, op, stack, layer } of model.sent) {
      if (op !== "block" || answered.has(id)) continue;
      answered.add(id);
      const { parts, buffers } = sentBlock(`${stack}.${layer}`);
      setTimeout(() => model.deliver({ id, parts }, buffers), answered.size % 7 ? 4 : 60);
    }
  }, 3);
  onTestFinished(() => clearInterval(timer));
  return answered;
}

const INTERACTIONS = 2000;

test("2,000 interactions from both sides end in the same place", async () => {
  const model = modelOf();
  const answered = kernelOf(model);
  const { root, list, spin, status } = await rendered(model);
  await expect.element(list("Queries")).toBeVisible();
  const began = { layer: 0, head: 0, heads: null };
  let frames = 0;
  const count = () => {
    frames += 1;
    frame = requestAnimationFrame(count);
  };
  let frame = requestAnimationFrame(count);

  // A sequence that is the same in every run, of keys, pointer and traits.
  const keys = [".", ",", "]", ".", "Escape", ",", "["];
  for (let n = 0; n < INTERACTIONS; n++) {
    if (n % 50 === 13) model.receive("theme", n % 100 === 13 ? "dark" : "light");
    else if (n % 5 === 0) press(root, keys[(n / 5) % keys.length]);
    else {
      const tokens = root.querySelectorAll(".tokens.query [role=option]");
      tokens[n % tokens.length]?.dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
    }
    // The host draws now and then.
    if (n % 25 === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  for (const key of ["Escape", "]", "]", "]"]) press(root, key);
  model.receive("query", 3);
  cancelAnimationFrame(frame);

  await expect.poll(() => spin("Layer").element().textContent).toBe("2");
  await expect.poll(() => model.sent.every(({ id }) => answered.has(id))).toBe(true);
  const expected = strongest([...Array(10).keys()], (head, key) => weightAt(2, head, 3, key));
  await expect.poll(status).toContain(`Layer 2  ${NAMES[3]} → ${expected}`);
  for (const name of ["layer", "head", "heads"] as const) {
    // The messages to the kernel, merged into the initial state.
    const heard = () => Object.assign({}, began, ...model.saved)[name];
    await expect.poll(heard).toEqual(model.get(name));
  }
  expect(model.saved.length).toBeLessThanOrEqual(frames + 2);
  // The three layers, each at most once, since there is room for all of them.
  expect(model.sent.map(({ layer }) => layer).sort()).toEqual([0, 1, 2]);
}, 60_000);

test("what is chosen while the page is out of sight arrives all the same", async () => {
  const model = modelOf();
  const { root } = await rendered(model);
  const { requestAnimationFrame: real } = globalThis;
  globalThis.requestAnimationFrame = () => 0;
  onTestFinished(() => {
    globalThis.requestAnimationFrame = real;
  });
  press(root, ".");
  press(root, ".");
  await expect.poll(() => model.saved).toEqual([{ head: 2 }]);
  press(root, ",");
  document.dispatchEvent(new Event("visibilitychange"));
  expect(model.saved).toEqual([{ head: 2 }, { head: 1 }]);
});
