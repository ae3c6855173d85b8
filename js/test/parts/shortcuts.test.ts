import { expect, type Mock, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { el } from "../../src/parts/dom.ts";
import { bindKeys } from "../../src/parts/shortcuts.ts";
import type { Choices, ViewName } from "../../src/state/choices.ts";
import { stateOf } from "../support/choices.ts";
import { place } from "../support/place.ts";
import { RECORD } from "../support/vectors.ts";

function mounted(choices: Partial<Choices> = {}, views?: readonly ViewName[]) {
  const state = stateOf(choices, RECORD, views);
  const names = [
    "help",
    "find",
    "copy",
    "save",
    "pair",
    "jump",
    "head",
    "cut",
    "releaseOwn",
    "ofView",
  ] as const;
  const actions = Object.fromEntries(names.map((name) => [name, vi.fn()])) as Record<
    (typeof names)[number],
    Mock
  >;
  const root = place(el("div", { tabindex: 0 }));
  const controller = new AbortController();
  bindKeys(root, state, actions, controller.signal);
  root.focus();
  return { state, root, actions, controller };
}

test.for([
  { key: "{]}", choices: { layer: 0 }, layer: 1, head: 1 },
  { key: "{]}", choices: { layer: 2 }, layer: 2, head: 3 },
  { key: "{[}", choices: { layer: 2 }, layer: 1, head: 1 },
  { key: "{[}", choices: { layer: 0 }, layer: 0, head: 3 },
  { key: ".", choices: { layer: 2 }, layer: 2, head: 4 },
  { key: ".", choices: { layer: 0 }, layer: 0, head: 3 },
  { key: ",", choices: { layer: 0 }, layer: 0, head: 2 },
])("$key in layer $choices.layer, head 3, leads to $layer, $head", async (given) => {
  const { state } = mounted({ head: 3, ...given.choices });
  // "[[" is how the test's keyboard writes "[".
  await userEvent.keyboard(given.key === "{[}" ? "[[" : given.key === "{]}" ? "]" : given.key);
  expect([state.layer.value, state.head.value]).toEqual([given.layer, given.head]);
});

test("digits choose the view", async () => {
  const { state } = mounted();
  for (const [key, view] of [
    ["2", "model"],
    ["3", "neuron"],
    ["1", "head"],
  ]) {
    await userEvent.keyboard(key);
    expect(state.view.value).toBe(view);
  }
});

test("digits count the views that there are", async () => {
  const { state } = mounted({ view: "model" }, ["model", "neuron"]);
  await userEvent.keyboard("2");
  expect(state.view.value).toBe("neuron");
  await userEvent.keyboard("3");
  expect(state.view.value).toBe("neuron");
  await userEvent.keyboard("1");
  expect(state.view.value).toBe("model");
});

test.for([
  ["?", "help"],
  ["/", "find"],
  ["c", "copy"],
  ["s", "save"],
] as const)("%s is for %s", async ([key, name]) => {
  const { actions } = mounted();
  await userEvent.keyboard(key);
  for (const [other, action] of Object.entries(actions)) {
    expect(action).toHaveBeenCalledTimes(other === name ? 1 : 0);
  }
});

test("held down, a key saves, copies or opens once, and steps on", () => {
  const { state, root, actions } = mounted();
  const press = (key: string, repeat: boolean) =>
    root.dispatchEvent(new KeyboardEvent("keydown", { key, repeat }));
  for (const key of ["?", "/", "c", "s", "]"]) for (const again of [false, true]) press(key, again);
  const { help, find, copy, save } = actions;
  for (const action of [help, find, copy, save]) expect(action).toHaveBeenCalledTimes(1);
  expect(state.layer.value).toBe(2);
});

test("Escape releases what is locked and what is looked at", async () => {
  const { state } = mounted({ query: 2 });
  state.hover.value = { query: 3, key: null };
  await userEvent.keyboard("{Escape}");
  expect([state.query.value, state.hover.value]).toEqual([null, null]);
});

test("Escape releases first what is locked in the view alone", async () => {
  const { state, actions } = mounted({ query: 1 });
  actions.releaseOwn.mockReturnValueOnce(true);
  await userEvent.keyboard("{Escape}");
  expect(state.query.value).toBe(1);
  await userEvent.keyboard("{Escape}");
  expect(state.query.value).toBeNull();
});

test("Escape switches all heads on if nothing is locked or looked at", async () => {
  const { state } = mounted({ query: 2, off: [[0, 1]] });
  await userEvent.keyboard("{Escape}");
  expect(state.off.value).toEqual([[0, 1]]);
  await userEvent.keyboard("{Escape}");
  expect(state.off.value).toEqual([]);
});

test("x switches the head that the view looks at off, X its layer, and on again", async () => {
  const { state, actions } = mounted();
  const [, layer] = state.shown.stack.value.layers;
  actions.head.mockReturnValue({ layer, head: 1 });
  await userEvent.keyboard("x");
  expect(state.off.value).toEqual([[1, 1]]);
  await userEvent.keyboard("X");
  expect(state.off.value).toEqual([
    [1, 0],
    [1, 1],
  ]);
  await userEvent.keyboard("x");
  expect(state.off.value).toEqual([[1, 0]]);
  await userEvent.keyboard("XX");
  expect(state.off.value).toEqual([]);
});

test.for(["input", "textarea", "select"] as const)("what is typed into %s is text", (name) => {
  const { state, root, actions } = mounted({ query: 2 });
  const field = el(name, {});
  root.append(field);
  const press = (key: string) => {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
    field.dispatchEvent(event);
    return event.defaultPrevented;
  };
  for (const key of ["2", "]", ".", "?", "/", "c"]) expect(press(key)).toBe(false);
  for (const action of Object.values(actions)) expect(action).not.toHaveBeenCalled();
  expect([state.view.value, state.layer.value, state.head.value]).toEqual(["head", 0, 0]);
  // But for what no text has.
  press("Escape");
  expect(state.query.value).toBeNull();
});

test("Escape releases a key too", async () => {
  const { state } = mounted({ key: 2 });
  await userEvent.keyboard("{Escape}");
  expect(state.key.value).toBeNull();
});

test("Alt may be what a keyboard needs for a bracket", async () => {
  const { state, root } = mounted();
  const key = { key: "]", altKey: true, bubbles: true, cancelable: true };
  root.dispatchEvent(new KeyboardEvent("keydown", key));
  expect(state.layer.value).toBe(1);
});

test("what is held down with Control, Alt or Meta is the browser's", async () => {
  const { state } = mounted({ layer: 1 });
  for (const modifier of ["ctrlKey", "altKey", "metaKey"]) {
    const event = new KeyboardEvent("keydown", {
      key: "2",
      bubbles: true,
      cancelable: true,
      [modifier]: true,
    });
    document.activeElement?.dispatchEvent(event);
    expect(event.defaultPrevented).toBe(false);
  }
  expect(state.view.value).toBe("head");
});

test("a key that does something does nothing else; any other key is left alone", () => {
  const { root } = mounted();
  const prevented = (key: string) => {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
    root.dispatchEvent(event);
    return event.defaultPrevented;
  };
  for (const key of ["[", "]", ",", ".", "1", "2", "3", "?", "/", "c", "Escape"]) {
    expect(prevented(key)).toBe(true);
  }
  for (const key of ["a", "9", "Tab", "ArrowDown", "Enter"]) {
    expect(prevented(key)).toBe(false);
  }
});

test("an abort ends it", async () => {
  const { state, controller } = mounted();
  controller.abort();
  await userEvent.keyboard("2");
  expect(state.view.value).toBe("head");
});

test("j goes on through what stands out, J back", async () => {
  const { actions } = mounted();
  await userEvent.keyboard("j");
  await userEvent.keyboard("J");
  expect(actions.jump.mock.calls).toEqual([[1], [-1]]);
});
