import { signal } from "@preact/signals-core";
import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import { type Finds, findBox, matches } from "../../src/parts/find.ts";
import type { Choices } from "../../src/state/choices.ts";
import type { Side } from "../../src/state/state.ts";
import { stateOf } from "../support/choices.ts";
import { LABELS } from "../support/numbers.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";
import { OVERVIEW, type SentRecord } from "../support/vectors.ts";

describe("matches", () => {
  test.for([
    ["a", [0, 2, 4]],
    ["A", [0, 2, 4]],
    ["tt", [2]],
    ["ÉT", [3]],
    ["", []],
    ["z", []],
    [".", [5]],
  ] as const)("%s", ([text, positions]) => {
    expect(matches(["Cat", "on", "mATt", "été", "##a", "."], text)).toEqual(positions);
  });
});

function mounted(choices: Partial<Choices> = {}, record?: SentRecord) {
  const finds = signal<Finds>("tokens");
  const state = stateOf(choices, record);
  const leave = vi.fn();
  const looked: string[] = [];
  const option = (side: Side) => {
    looked.push(`${side} ${state.hover.peek()?.[side]}`);
    return null;
  };
  const find = findBox(testScope(), { state, finds, option, leave });
  place(find.element);
  return { state, finds, leave, looked, find };
}

const box = page.getByRole("searchbox", { name: "Find token" });
const said = () => box.element().parentElement?.textContent;

/** Position of a letter among the tokens of the record. */
const E = matches(LABELS, "e");

describe("the box", () => {
  test("looks at the first that is found, and tells how many there are", async () => {
    const { state, looked } = mounted();
    await userEvent.type(box, "e");
    expect(state.find.value).toBe("e");
    expect(E.length).toBeGreaterThan(1);
    expect(state.hover.value).toEqual({ query: E[0], key: null });
    expect(looked).toEqual([`query ${E[0]}`]);
    expect(said()).toBe(`1 of ${E.length}`);
  });

  test("goes on with Enter and back with Shift+Enter, around the ends", async () => {
    const { state } = mounted();
    await userEvent.type(box, "e");
    await userEvent.keyboard("{Enter}");
    expect(state.hover.value?.query).toBe(E[1]);
    expect(said()).toBe(`2 of ${E.length}`);
    await userEvent.keyboard("{Shift>}{Enter}{Enter}{/Shift}");
    expect(state.hover.value?.query).toBe(E.at(-1));
    await userEvent.keyboard("{Enter}");
    expect(state.hover.value?.query).toBe(E[0]);
    // The column goes on from there.
    expect(state.cursor.query).toBe(E[0]);
  });

  test("says that there is none, and looks at nothing", async () => {
    const { state } = mounted();
    await userEvent.type(box, "e");
    await userEvent.fill(box, "no such token");
    expect(said()).toBe("none");
    expect(state.hover.value).toBeNull();
    await userEvent.keyboard("{Enter}");
    expect(state.hover.value).toBeNull();
  });

  test("announces what it says", () => {
    mounted();
    const count = box.element().parentElement?.querySelector("[aria-live=polite]");
    expect(count?.textContent).toBe("");
  });

  test("clears with Escape, gives the focus back, and releases nothing", async () => {
    const { state, leave, find } = mounted({ query: 2 });
    const heard = vi.fn();
    find.element.parentElement?.addEventListener("keydown", heard);
    await userEvent.click(box);
    await userEvent.keyboard("{Escape}");
    await userEvent.type(box, "e");
    heard.mockClear();
    await userEvent.keyboard("{Escape}");
    expect([state.find.value, state.hover.value, state.query.value]).toEqual(["", null, 2]);
    await expect.element(box).toHaveValue("");
    expect(said()).toBe("");
    expect(leave).toHaveBeenCalled();
    expect(heard).not.toHaveBeenCalled();
  });

  test("finds among the keys what is not among the queries", async () => {
    const { state } = mounted({ stack: "cross" }, OVERVIEW);
    await userEvent.type(box, "four");
    expect(state.hover.value).toEqual({ query: null, key: 3 });
    await userEvent.fill(box, "drei");
    expect(state.hover.value).toEqual({ query: 2, key: null });
  });

  test("finds only what the segments show", async () => {
    const { state } = mounted();
    await userEvent.type(box, "e");
    const stack = state.shown.stack.value;
    state.segments.value = "bb";
    const inB = E.filter((at) => stack.queries.segments?.[at] === 1);
    const expected = inB.length ? `${inB.length} found` : "none";
    expect(said()?.endsWith(expected) || said()?.endsWith(`of ${inB.length}`)).toBe(true);
  });

  test("is not there where the view shows no tokens", async () => {
    const { finds, find } = mounted();
    finds.value = null;
    await expect.element(box).not.toBeInTheDocument();
    find.focus();
    expect(document.activeElement).toBe(document.body);
    finds.value = "tokens";
    await expect.element(box).toBeVisible();
    find.focus();
    await expect.element(box).toHaveFocus();
  });
});
