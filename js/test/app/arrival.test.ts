/** A layer may come late, out of turn, or not at all. */

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { Source } from "../../src/data/store.ts";
import { goTo } from "../../src/state/navigation.ts";
import { focus, parts } from "../support/locators.ts";
import { drawn, find, mountApp, slowSource, sourceOf } from "../support/mounted.ts";
import { LABELS, strongest, weightAt } from "../support/numbers.ts";
import { twoFrames } from "../support/place.ts";
import { expectNoProblems } from "../support/problems.ts";

expectNoProblems();

const { list, number, heads, alert, status, cell } = parts();

test("a layer that does not come says so after a while", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { source } = slowSource();
    const app = await mountApp({ source });
    const body = find(app, ".body");
    vi.advanceTimersByTime(1000);
    expect(body.textContent).toBe("");
    vi.advanceTimersByTime(1000);
    expect(body.textContent).toContain("Waiting for layer 0.");
  } finally {
    vi.useRealTimers();
  }
});

describe("a kernel that does not answer", () => {
  const again = page.getByRole("button", { name: "Ask again", exact: true });
  const kernel = (asked: string[]) => {
    const { source, arrive } = slowSource();
    const block: Source["block"] = (stack, layer, signal) => {
      asked.push(`${stack}.${layer}`);
      return source.block(stack, layer, signal);
    };
    return { source: { ...source, block }, arrive };
  };
  /** Its first seconds take no time here. */
  const impatient = () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
  };

  test("is asked again when the reader says so, and may still answer", async () => {
    impatient();
    const asked: string[] = [];
    const { source, arrive } = kernel(asked);
    const app = await mountApp({ source });
    const body = find(app, ".body");
    vi.advanceTimersByTime(14_000);
    expect(body.textContent).toContain("Waiting for layer 0.");
    vi.advanceTimersByTime(2000);
    expect(alert.element().textContent).toContain("not sent layer 0 for 15 seconds");
    expect(asked).toEqual(["self.0"]);
    (again.element() as HTMLElement).focus();
    (again.element() as HTMLElement).click();
    expect(asked).toEqual(["self.0", "self.0"]);
    expect(body.textContent).toContain("Waiting for layer 0.");
    // The keyboard is still in the view.
    expect(app.shadow.activeElement).toBe(app.root);
    vi.advanceTimersByTime(15_000);
    expect(alert.elements().length).toBe(1);
    vi.useRealTimers();
    await arrive("self.0");
    await expect.element(list("Queries")).toBeVisible();
    expect(alert.elements()).toEqual([]);
  });

  test("is said not to have sent what is waited for, and not what was", async () => {
    impatient();
    const app = await mountApp({ source: kernel([]).source });
    vi.advanceTimersByTime(1000);
    goTo(app.state, { layer: 1 });
    vi.advanceTimersByTime(14_900);
    expect(find(app, ".body").textContent).toContain("Waiting for layer 1.");
    vi.advanceTimersByTime(1000);
    expect(alert.element().textContent).toContain("not sent layer 1 for 15 seconds");
  });

  test("is not what a page waits for", async () => {
    impatient();
    const { source } = kernel([]);
    const app = await mountApp({ source: { block: source.block } });
    vi.advanceTimersByTime(60_000);
    expect(find(app, ".body").textContent).toBe("Waiting for layer 0.");
  });
});

test("a layer that comes at last takes the place of that line", async () => {
  const { source, arrive } = slowSource();
  const app = await mountApp({ source });
  const body = find(app, ".body");
  await expect.poll(() => body.textContent).toContain("Waiting");
  await arrive("self.0");
  await expect.element(list("Queries")).toBeVisible();
  expect(body.textContent).not.toContain("Waiting");
});

test("one layer's numbers are never called another's, while that one is on its way", async () => {
  const { source, arrive } = slowSource();
  const app = await mountApp({ source, choices: { query: 2 } });
  await arrive("self.0");
  const numbers = (layer: number, count: number) => {
    const heads = Array.from({ length: count }, (_, head) => head);
    return strongest(heads, (head, key) => weightAt(layer, head, 2, key));
  };
  await expect.poll(status).toContain(`Layer 0  cat → ${numbers(0, 4)}`);
  goTo(app.state, { layer: 2 });
  await twoFrames();
  expect(status()).not.toContain("Layer 2");
  expect(find(app, ".matrix .title").textContent).not.toContain("Layer 2");
  app.state.key.value = 1;
  expect(status()).toContain(`Layer 0 · Head 0  cat → ${LABELS[1]} `);
  app.state.key.value = null;
  await arrive("self.2");
  await expect.poll(status).toContain(`Layer 2  cat → ${numbers(2, 10)}`);
  expect(find(app, ".matrix .title").textContent).toContain("Layer 2 · Head 0");
});

test.for(["head", "neuron"] as const)(
  "a layer with more heads can be stepped through in the %s view while it is on its way",
  async (view) => {
    const { source, arrive } = slowSource();
    const app = await mountApp({ source, choices: { view } });
    await arrive("self.0");
    await expect.element(list("Queries")).toBeVisible();
    focus(list("Queries"));
    await userEvent.keyboard("{ArrowDown}");
    await userEvent.keyboard("]]");
    await userEvent.keyboard("....");
    expect([number("Layer"), number("Head")]).toEqual([2, 4]);
    await arrive("self.2");
    app.state.hover.value = { query: 8, key: 1 };
    await expect.poll(status).toContain("Layer 2 · Head 4 ");
  },
);

test("a layer that is overtaken by another does not appear in its place", async () => {
  const { source, arrive } = slowSource();
  const { state } = await mountApp({ source });
  goTo(state, { layer: 1 });
  await arrive("self.1");
  await expect.poll(heads).toBe(2);
  await arrive("self.0");
  await twoFrames();
  expect(heads()).toBe(2);
});

test("the layer before is let go", async () => {
  const app = await mountApp();
  await drawn(app);
  const old = [...app.shadow.querySelectorAll<HTMLCanvasElement>(".body canvas")];
  const list = find(app, "[role=listbox]");
  goTo(app.state, { layer: 1 });
  await expect.poll(heads).toBe(2);
  const look = () => [list.outerHTML, ...old.map((canvas) => canvas.toDataURL())];
  const before = look();
  app.state.head.value = 1;
  app.state.heads.value = [1];
  app.state.query.value = 3;
  await twoFrames();
  expect(look()).toEqual(before);
});

/** A source that has no layer 0 until it is mended. */
function brokenSource() {
  const good = sourceOf();
  const broken = { now: true };
  const source: typeof good = {
    block: (stack, layer, signal) =>
      broken.now && layer === 0
        ? Promise.reject(new Error("Not now."))
        : good.block(stack, layer, signal),
  };
  return { source, broken };
}

test("a layer that failed is there as soon as the source has it", async () => {
  const { source, broken } = brokenSource();
  const { store } = await mountApp({ source });
  await expect.element(alert).toHaveTextContent("Not now.");
  broken.now = false;
  store.retry();
  await expect.element(list("Queries")).toBeVisible();
  expect(alert.elements()).toEqual([]);
});

test("a layer that failed is asked for again when the reader comes back to it", async () => {
  const { source, broken } = brokenSource();
  const { state } = await mountApp({ source });
  await expect.element(alert).toBeVisible();
  goTo(state, { layer: 2 });
  await expect.poll(heads).toBe(10);
  broken.now = false;
  goTo(state, { layer: 0 });
  await expect.poll(heads).toBe(4);
});

test("a layer that failed leaves the others, and the model view", async () => {
  const { source } = brokenSource();
  const { state } = await mountApp({ source });
  await expect.element(alert).toBeVisible();
  goTo(state, { layer: 2 });
  await expect.element(list("Queries")).toBeVisible();
  goTo(state, { layer: 0 });
  await expect.element(alert).toBeVisible();
  state.view.value = "model";
  await expect.element(cell(0, 0)).toBeVisible();
});
