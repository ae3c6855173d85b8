import { type Signal, signal } from "@preact/signals-core";
import { beforeEach, describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { Tokens } from "../../src/data/manifest.ts";
import { el } from "../../src/parts/dom.ts";
import { generatedLegend, tokenColumn } from "../../src/parts/tokens.ts";
import type { Choices } from "../../src/state/choices.ts";
import { toggleLock } from "../../src/state/locks.ts";
import { palette } from "../../src/styles/palette.ts";
import { stateOf, storeOf } from "../support/choices.ts";
import { pixel } from "../support/mounted.ts";
import { place, restPointer, twoFrames } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";

const { queries: tokens } = storeOf().stack("self").info;
const all = tokens.labels.map((_, position) => position);

beforeEach(restPointer);

function mounted(
  side: "query" | "key",
  { positions = all, ...choices }: Partial<Choices> & { positions?: readonly number[] } = {},
  text: Tokens = tokens,
) {
  const state = stateOf(choices);
  const emphasis: Signal<Float32Array | null> = signal(null);
  const list = tokenColumn(testScope(), {
    side,
    tokens: text,
    state,
    positions,
    palette: signal(palette(false)),
    emphasis,
    rowHeight: 24,
    width: 1000,
    toggle: (position) => toggleLock(state, { query: null, key: null, [side]: position }),
  });
  list.style.width = "120px";
  // Somewhere else to go, for the pointer and for the focus.
  const elsewhere = el("button", {}, "elsewhere");
  place(el("div", {}, list, elsewhere));
  return { state, emphasis, list, elsewhere };
}

const rowsOf = (list: HTMLElement) => [...list.querySelectorAll<HTMLElement>("[role=option]")];
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

  test("says which tokens the model generated", () => {
    mounted("key", {}, { ...tokens, generated: 6 });
    const named = page.getByRole("option", { name: /, generated$/ }).elements();
    expect(named.map((element) => element.textContent)).toEqual(tokens.labels.slice(6));
    expect(generatedLegend(tokens)).toBe("");
    expect(generatedLegend(tokens, { ...tokens, generated: 6 })).toBe("underlined: generated");
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
    rowsOf(list).forEach((row, index) => {
      expect(row.getBoundingClientRect().top - top).toBe(24 * index);
    });
  });

  test("marks special tokens", () => {
    const { list } = mounted("query");
    const special = rowsOf(list).flatMap((row, at) =>
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

test("only labels that may be higher than their row are cut off", () => {
  const labels = [...tokens.labels.slice(0, -2), `a${"\u0300".repeat(200)}`, "\n    def"];
  const { list } = mounted("query", {}, { ...tokens, labels });
  const cut = rowsOf(list).filter((row) => row.style.overflow === "hidden");
  expect(cut.map(({ textContent }) => textContent)).toEqual(labels.slice(-2));
});

test("a part of the tokens keeps their own positions", async () => {
  const { state, list } = mounted("key", { positions: [5, 6, 7, 8] });
  expect(rowsOf(list).map(({ textContent }) => textContent)).toEqual(tokens.labels.slice(5));
  await userEvent.hover(option(1));
  expect(state.hover.value).toEqual({ query: null, key: 6 });
  list.focus();
  await userEvent.keyboard("{Home}{Enter}");
  expect(state.key.value).toBe(5);
});

test("emphasis makes tokens stand out, by position", () => {
  const { list, state, emphasis } = mounted("key", { positions: [5, 6, 7, 8] });
  // The value that the style sheet has everywhere.
  list.style.position = "relative";
  const veil = list.querySelector("canvas") as HTMLCanvasElement;
  veil.style.cssText += "; position: absolute; left: 0";
  /** Opacity of each token's colour. */
  const kept = () =>
    rowsOf(list).map((row) => {
      const box = row.getBoundingClientRect();
      const [, , , opacity] = pixel(veil, 3, box.top + 3 - veil.getBoundingClientRect().top);
      return 1 - opacity / 255;
    });
  expect(list.classList.contains("faded")).toBe(false);
  expect(kept()).toEqual([1, 1, 1, 1]);
  emphasis.value = Float32Array.from([0, 0, 0, 0, 0, 1, 0, 0.5, 0]);
  expect(list.classList.contains("faded")).toBe(true);
  const [most, least, half, last] = kept();
  expect(most).toBe(1);
  expect(least).toBeLessThan(half);
  expect(half).toBeLessThan(1);
  expect(last).toBe(least);
  // Still to be read.
  expect(least).toBeGreaterThan(0.3);
  // A locked token stays as it is.
  state.key.value = 8;
  expect(kept()).toEqual([most, least, half, 1]);
  emphasis.value = null;
  expect(kept()).toEqual([1, 1, 1, 1]);
});

describe("a part of a long list", () => {
  const long = {
    ...tokens,
    labels: Array.from({ length: 2000 }, (_, at) => `t${at}`),
    special: [],
  };
  const every = long.labels.map((_, at) => at);

  function part(first: number, end: number) {
    const state = stateOf();
    const range = signal<readonly [number, number]>([first, end]);
    const list = tokenColumn(testScope(), {
      side: "query",
      tokens: long,
      state,
      positions: every,
      range,
      palette: signal(palette(false)),
      emphasis: signal(null),
      rowHeight: 16,
      width: 120,
      reveal(at) {
        range.value = [Math.max(0, at - 5), Math.min(2000, at + 5)];
      },
      toggle: (position) => toggleLock(state, { query: position, key: null }),
    });
    // The value that the style sheet has everywhere.
    list.style.boxSizing = "border-box";
    place(list);
    return { state, range, list };
  }
  const texts = (list: HTMLElement) => rowsOf(list).map(({ textContent }) => textContent);

  test("is all that there is, in the places of a whole list, and says where it is in it", () => {
    const { list } = part(100, 103);
    expect(texts(list)).toEqual(["t100", "t101", "t102"]);
    expect(list.getBoundingClientRect().height).toBe(16 * 2000);
    const tops = rowsOf(list).map(
      (row) => row.getBoundingClientRect().top - list.getBoundingClientRect().top,
    );
    expect(tops).toEqual([1600, 1616, 1632]);
    const [first] = rowsOf(list);
    expect(first.getAttribute("aria-posinset")).toBe("101");
    expect(first.getAttribute("aria-setsize")).toBe("2000");
  });

  test.for([
    [[102, 106]],
    [[96, 101]],
    [[98, 110]],
    [[101, 102]],
    [[1990, 2000]],
    [[0, 3]],
    [[5, 5]],
  ] as const)("may become %s, and what stays is the same element", ([[first, end]]) => {
    const { list, range } = part(100, 104);
    const before = rowsOf(list);
    range.value = [first, end];
    expect(texts(list)).toEqual(long.labels.slice(first, end));
    const stays = before.filter((_, at) => 100 + at >= first && 100 + at < end);
    expect(rowsOf(list).filter((row) => before.includes(row))).toEqual(stays);
  });

  test("shows what is looked at, locked, and found as it comes", () => {
    const { state, range, list } = part(0, 3);
    state.find.value = "t50";
    state.query.value = 51;
    list.focus();
    state.hover.value = { query: 52, key: null };
    list.focus();
    expect(list.hasAttribute("aria-activedescendant")).toBe(false);
    range.value = [50, 53];
    const [found, locked, looked] = rowsOf(list);
    expect(found.classList.contains("found")).toBe(true);
    expect(locked.getAttribute("aria-selected")).toBe("true");
    expect(looked.classList.contains("focused")).toBe(true);
    expect(list.getAttribute("aria-activedescendant")).toBe(looked.id);
  });

  test("follows the keyboard", async () => {
    const { state, list } = part(0, 3);
    list.focus();
    for (const [key, query] of [
      ["{End}", 1999],
      ["{PageUp}", 1979],
      ["{ArrowUp}", 1978],
      ["{PageDown}{PageDown}", 1999],
      ["{Home}", 0],
      ["{PageDown}", 20],
    ] as const) {
      await userEvent.keyboard(key);
      expect(state.hover.value).toEqual({ query, key: null });
      const active = list.getAttribute("aria-activedescendant");
      expect(list.querySelector(`[id="${active}"]`)?.textContent).toBe(`t${query}`);
    }
    await userEvent.keyboard("{Enter}");
    expect(state.query.value).toBe(20);
  });
});
