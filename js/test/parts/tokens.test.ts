import { type Signal, signal } from "@preact/signals-core";
import { beforeEach, describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { Choices } from "../../src/choices.ts";
import { toggleLock } from "../../src/locks.ts";
import { el } from "../../src/parts/dom.ts";
import { tokenColumn } from "../../src/parts/tokens.ts";
import { stateOf, storeOf } from "../choices.ts";
import { place, restPointer, twoFrames } from "../place.ts";

const { queries: tokens } = storeOf().stack("self");
const all = tokens.labels.map((_, position) => position);

beforeEach(restPointer);

function mounted(
  side: "query" | "key",
  { positions = all, ...choices }: Partial<Choices> & { positions?: readonly number[] } = {},
) {
  const state = stateOf(choices);
  const emphasis: Signal<Float32Array | null> = signal(null);
  const [list, dispose] = tokenColumn({
    ...{ side, tokens, state, positions, emphasis },
    rowHeight: 24,
    width: 1000,
    toggle: (position) => toggleLock(state, { query: null, key: null, [side]: position }),
  });
  list.style.width = "120px";
  // Somewhere else to go, for the pointer and for the focus.
  const elsewhere = el("button", {}, "elsewhere");
  place(el("div", {}, list, elsewhere), dispose);
  return { state, emphasis, list, elsewhere };
}

const option = (at: number) => page.getByRole("option").nth(at);
const selected = () =>
  page
    .getByRole("option", { selected: true })
    .elements()
    .map((element) => element.textContent);

describe("the list", () => {
  test.for([
    { side: "query", name: "Queries" },
    { side: "key", name: "Keys" },
  ] as const)("of the $side side is called $name, with an option per token", ({ side, name }) => {
    mounted(side);
    const options = page.getByRole("listbox", { name, exact: true }).getByRole("option").elements();
    expect(options.map((element) => element.textContent)).toEqual(tokens.labels);
  });

  test("shows tokens as text, never as markup", () => {
    const { list } = mounted("query");
    expect(list.querySelectorAll("img, script").length).toBe(0);
    expect(list.querySelectorAll("[role=option] > *").length).toBe(tokens.labels.length);
    expect((list.children[1] as HTMLElement).title).toBe(tokens.labels[1]);
  });

  test("has rows of the height that the lines beside it count on", () => {
    const { list } = mounted("query");
    const top = list.getBoundingClientRect().top;
    [...list.children].forEach((row, index) => {
      expect(row.getBoundingClientRect().top - top).toBe(24 * index);
    });
  });

  test("marks special tokens", () => {
    const { list } = mounted("query");
    const special = [...list.children].flatMap((row, at) =>
      row.classList.contains("special") ? [at] : [],
    );
    expect(special).toEqual([0, 4, 8]);
  });
});

describe("the pointer", () => {
  test.for([
    { side: "query", hover: { query: 2, key: null } },
    { side: "key", hover: { query: null, key: 2 } },
  ] as const)("over a $side looks at it, and away from it no more", async ({ side, hover }) => {
    const { state, elsewhere } = mounted(side);
    await userEvent.hover(option(2));
    expect(state.hover.value).toEqual(hover);
    await userEvent.hover(elsewhere);
    expect(state.hover.value).toBeNull();
  });

  test("locks by click, moves the lock, and releases it by a second click", async () => {
    const { state } = mounted("key");
    await userEvent.click(option(2));
    expect([state.query.value, state.key.value]).toEqual([null, 2]);
    expect(selected()).toEqual(["cat"]);
    await userEvent.click(option(4));
    expect(state.key.value).toBe(4);
    await userEvent.click(option(4));
    expect(state.key.value).toBeNull();
    expect(selected()).toEqual([]);
  });
});

describe("the keyboard", () => {
  test("walks through the tokens, and stays at the ends", async () => {
    const { state, list } = mounted("query");
    list.focus();
    for (const [key, query] of [
      ["{ArrowDown}", 0],
      ["{ArrowDown}", 1],
      ["{ArrowUp}", 0],
      ["{ArrowUp}", 0],
      ["{End}", 8],
      ["{ArrowDown}", 8],
      ["{ArrowUp}", 7],
      ["{Home}", 0],
    ] as const) {
      await userEvent.keyboard(key);
      expect(state.hover.value).toEqual({ query, key: null });
      expect(list.getAttribute("aria-activedescendant")).toBe(list.children[query].id);
    }
  });

  test("starts at the end with the arrow up", async () => {
    const { state, list } = mounted("key");
    list.focus();
    await userEvent.keyboard("{ArrowUp}");
    expect(state.hover.value).toEqual({ query: null, key: 8 });
  });

  test("starts where the lock is", async () => {
    const { state, list } = mounted("query", { query: 4 });
    list.focus();
    await userEvent.keyboard("{ArrowDown}");
    expect(state.hover.value).toEqual({ query: 5, key: null });
  });

  test.for(["{Enter}", " "])("locks and releases with '%s'", async (key) => {
    const { state, list } = mounted("query");
    list.focus();
    await userEvent.keyboard(`{ArrowDown}{ArrowDown}${key}`);
    expect(state.query.value).toBe(1);
    await userEvent.keyboard(key);
    expect(state.query.value).toBeNull();
  });

  test("locks nothing where no token is looked at", async () => {
    const { state, list } = mounted("query");
    list.focus();
    await userEvent.keyboard("{Enter}");
    expect([state.query.value, state.key.value]).toEqual([null, null]);
  });

  test("is not held up by a pointer that rests where the list scrolls by", async () => {
    const { state, list } = mounted("query");
    list.style.cssText += "; height: 72px; overflow: auto";
    await userEvent.click(option(1));
    list.focus();
    for (const query of [2, 3, 4, 5, 6]) {
      await userEvent.keyboard("{ArrowDown}");
      await twoFrames();
      expect(state.hover.value).toEqual({ query, key: null });
    }
  });

  test("looks at nothing once the focus is gone", async () => {
    const { state, list, elsewhere } = mounted("query");
    list.focus();
    await userEvent.keyboard("{ArrowDown}");
    elsewhere.focus();
    expect(state.hover.value).toBeNull();
    expect(list.hasAttribute("aria-activedescendant")).toBe(false);
  });
});

test("a part of the tokens keeps their own positions", async () => {
  const { state, list } = mounted("key", { positions: [5, 6, 7, 8] });
  expect([...list.children].map(({ textContent }) => textContent)).toEqual(tokens.labels.slice(5));
  await userEvent.hover(option(1));
  expect(state.hover.value).toEqual({ query: null, key: 6 });
  list.focus();
  await userEvent.keyboard("{Home}{Enter}");
  expect(state.key.value).toBe(5);
});

test("emphasis makes tokens stand out, by position", () => {
  const { list, emphasis } = mounted("key", { positions: [5, 6, 7, 8] });
  const opacities = () =>
    [...list.children].map((row) => Number(getComputedStyle(row.children[0]).opacity));
  expect(opacities()).toEqual([1, 1, 1, 1]);
  emphasis.value = Float32Array.from([0, 0, 0, 0, 0, 1, 0, 0.5, 0]);
  const [most, least, half] = opacities();
  expect(most).toBe(1);
  expect(least).toBeLessThan(half);
  expect(half).toBeLessThan(1);
  // Still to be read.
  expect(least).toBeGreaterThan(0.3);
});
