import { signal } from "@preact/signals-core";
import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { swatches } from "../../src/parts/swatches.ts";
import type { Choices } from "../../src/state/choices.ts";
import { luminance, palette, type RGB } from "../../src/styles/palette.ts";
import { stateOf, storeOf } from "../support/choices.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";

const colors = signal(palette(false));

/** The swatches of layer 0, which has four heads. */
function mounted(choices: Partial<Choices> = {}) {
  const state = stateOf(choices);
  const { heads } = storeOf().stack("self").info.layers[state.layer.value];
  place(swatches(testScope(), state, heads, colors));
  return state;
}

const named = (name: string) => page.getByRole("button", { name, exact: true });
const button = (head: number) => page.getByRole("button", { name: `Head ${head}`, exact: true });

const group = page.getByRole("group", { name: "Heads" });
const all = () => group.getByRole("button").elements();

/** The heads whose buttons are pressed. */
const pressed = () =>
  group
    .getByRole("button", { pressed: true })
    .elements()
    .map((element) => Number(element.textContent));

test("every head has a button with its number, pressed if it is drawn", async () => {
  const state = mounted({ heads: [1, 3] });
  expect(all().length).toBe(4);
  expect(pressed()).toEqual([1, 3]);
  await expect.element(button(0)).toHaveAttribute("aria-pressed", "false");
  state.heads.value = null;
  expect(pressed()).toEqual([0, 1, 2, 3]);
});

describe("a click", () => {
  test("switches a head off, and on again", async () => {
    const state = mounted();
    await userEvent.click(button(2));
    expect(state.heads.value).toEqual([0, 1, 3]);
    expect(pressed()).toEqual([0, 1, 3]);
    await userEvent.click(button(2));
    // All of them is not a list of them: it stays "all" on other layers too.
    expect(state.heads.value).toBeNull();
  });

  test("makes the head that it switches on the current one, and off the nearest one", async () => {
    const state = mounted({ heads: [0], head: 0 });
    await userEvent.click(button(3));
    expect([state.heads.value, state.head.value]).toEqual([[0, 3], 3]);
    await userEvent.click(button(3));
    expect([state.heads.value, state.head.value]).toEqual([[0], 0]);
  });

  test("never switches the last head off", async () => {
    const state = mounted({ heads: [1] });
    await userEvent.click(button(1));
    expect(state.heads.value).toEqual([1]);
    expect(pressed()).toEqual([1]);
  });

  test("keeps the heads in order", async () => {
    const state = mounted({ heads: [2] });
    await userEvent.click(button(3));
    await userEvent.click(button(0));
    expect(state.heads.value).toEqual([0, 2, 3]);
  });
});

/** The browser sends two clicks before the double click; both toggle. */
describe("a double click", () => {
  test.for([
    { heads: null, head: 2 },
    { heads: [0, 2], head: 2 },
    { heads: [0], head: 2 },
    { heads: [0, 1, 3], head: 3 },
  ])("on head $head shows it alone, from $heads", async ({ heads, head }) => {
    const state = mounted({ heads });
    await userEvent.dblClick(button(head));
    expect(state.heads.value).toEqual([head]);
    expect(state.head.value).toBe(head);
  });

  test("on a head that is alone brings all of them back", async () => {
    const state = mounted({ heads: [2] });
    await userEvent.dblClick(button(2));
    expect(state.heads.value).toBeNull();
    expect(pressed()).toEqual([0, 1, 2, 3]);
  });

  test("after another moves on to that head", async () => {
    const state = mounted();
    await userEvent.dblClick(button(1));
    await userEvent.dblClick(button(3));
    expect(state.heads.value).toEqual([3]);
  });
});

describe("a click with Shift", () => {
  const SHIFT = { modifiers: ["Shift"] } as const;

  test("shows the heads from the one clicked last, and no other", async () => {
    const state = mounted({ layer: 2 });
    await userEvent.click(button(2));
    await button(5).click(SHIFT);
    expect(pressed()).toEqual([2, 3, 4, 5]);
    expect(state.head.value).toBe(5);
    // From the same one, in the other direction too.
    await button(1).click(SHIFT);
    expect(pressed()).toEqual([1, 2]);
  });

  test("begins at the current head where none was clicked", async () => {
    mounted({ layer: 2, head: 7 });
    await button(9).click(SHIFT);
    expect(pressed()).toEqual([7, 8, 9]);
  });

  test("twice is as once", async () => {
    mounted({ layer: 2, head: 3 });
    await button(6).dblClick(SHIFT);
    expect(pressed()).toEqual([3, 4, 5, 6]);
  });

  test("from first to last is all of them", async () => {
    const state = mounted({ head: 0, heads: [0] });
    await button(3).click(SHIFT);
    expect(state.heads.value).toBeNull();
  });
});

describe("the two beside them", () => {
  test("show all heads, or none but the current one, whichever that is", async () => {
    const state = mounted({ head: 1 });
    await userEvent.click(named("None but 1"));
    expect([pressed(), state.heads.value]).toEqual([[1], [1]]);
    state.head.value = 3;
    await userEvent.click(named("None but 3"));
    expect(pressed()).toEqual([3]);
    await userEvent.click(named("All"));
    expect([pressed(), state.heads.value]).toEqual([[0, 1, 2, 3], null]);
  });

  test("say when there is nothing for them to do", async () => {
    mounted();
    await expect.element(named("All")).toHaveAttribute("aria-disabled", "true");
    await expect.element(named("None but 0")).toHaveAttribute("aria-disabled", "false");
    await userEvent.click(named("None but 0"));
    await expect.element(named("All")).toHaveAttribute("aria-disabled", "false");
    await expect.element(named("None but 0")).toHaveAttribute("aria-disabled", "true");
  });

  test("keep the keyboard's place", async () => {
    mounted();
    (named("None but 0").element() as HTMLElement).focus();
    await userEvent.keyboard("{Enter}");
    expect(pressed()).toEqual([0]);
    await userEvent.keyboard("{Shift>}{Tab}{/Shift}{Enter}");
    expect(pressed()).toEqual([0, 1, 2, 3]);
    await expect.element(named("All")).toHaveFocus();
  });

  test("are not there for a head that is alone", () => {
    const state = stateOf();
    place(swatches(testScope(), state, 1, colors));
    expect(page.getByRole("button").elements().length).toBe(1);
  });
});

test("the keyboard toggles too", async () => {
  const state = mounted();
  (button(1).element() as HTMLElement).focus();
  await userEvent.keyboard("{Enter}");
  expect(state.heads.value).toEqual([0, 2, 3]);
  await userEvent.keyboard(" ");
  expect(state.heads.value).toBeNull();
});

test("the number on a swatch can be read on its colour", () => {
  mounted({ layer: 2 });
  const color = (text: string) => text.match(/\d+/g)?.map(Number) as unknown as RGB;
  expect(all().length).toBe(10);
  for (const element of all()) {
    const { color: text, backgroundColor } = getComputedStyle(element);
    const [a, b] = [luminance(color(text)), luminance(color(backgroundColor))];
    // WCAG 2, level AA.
    expect((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)).toBeGreaterThan(4.5);
  }
});

test("what is on can be told from what is off in either theme", () => {
  mounted({ heads: [2] });
  for (const dark of [false, true]) {
    colors.value = palette(dark);
    const [off, on] = [0, 2].map((head) => getComputedStyle(all()[head]).backgroundColor);
    expect(on).toMatch(/^rgb\(/);
    expect(off).toContain("0.18");
  }
  colors.value = palette(false);
});

test("are one Tab stop, at the current head, and arrows go from head to head", async () => {
  const state = mounted({ head: 2 });
  await userEvent.tab();
  expect(document.activeElement).toBe(button(2).element());
  await userEvent.keyboard("{ArrowRight}{ArrowRight}");
  expect(document.activeElement).toBe(button(3).element());
  await userEvent.keyboard("{Home}{Enter}");
  expect([document.activeElement, state.heads.value]).toEqual([button(0).element(), [1, 2, 3]]);
  await userEvent.tab();
  expect(document.activeElement?.textContent).toBe("All");
});
