import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { swatches } from "../../src/parts/swatches.ts";
import type { Choices } from "../../src/state.ts";
import { luminance, type RGB } from "../../src/theme.ts";
import { stateOf, storeOf } from "../choices.ts";
import { place } from "../place.ts";

/** The swatches of layer 0, which has four heads. */
function mounted(choices: Partial<Choices> = {}) {
  const state = stateOf(choices);
  place(...swatches(state, storeOf().stack("self").layers[state.layer.value].heads));
  return state;
}

const button = (head: number) => page.getByRole("button", { name: `Head ${head}`, exact: true });

/** The heads whose buttons are pressed. */
const pressed = () =>
  page
    .getByRole("group", { name: "Heads" })
    .getByRole("button", { pressed: true })
    .elements()
    .map((element) => Number(element.textContent));

test("every head has a button with its number, pressed if it is drawn", async () => {
  const state = mounted({ heads: [1, 3] });
  expect(page.getByRole("button").elements().length).toBe(4);
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

  test("makes the head that it switches on the current one", async () => {
    const state = mounted({ heads: [0], head: 0 });
    await userEvent.click(button(3));
    expect([state.heads.value, state.head.value]).toEqual([[0, 3], 3]);
    await userEvent.click(button(3));
    expect([state.heads.value, state.head.value]).toEqual([[0], 3]);
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
  for (const element of page.getByRole("button").elements()) {
    const { color: text, backgroundColor } = getComputedStyle(element);
    const [a, b] = [luminance(color(text)), luminance(color(backgroundColor))];
    // WCAG 2, level AA.
    expect((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)).toBeGreaterThan(4.5);
  }
});
