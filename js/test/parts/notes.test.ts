import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { notes } from "../../src/parts/notes.ts";
import type { Choices } from "../../src/state/choices.ts";
import { stateOf } from "../support/choices.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";
import { OVERVIEW, RECORD, type SentRecord } from "../support/vectors.ts";

function mounted(
  choices: Partial<Choices> = {},
  missing: readonly string[] = [],
  record: SentRecord = RECORD,
) {
  const state = stateOf(choices, record);
  const element = notes(testScope(), state, missing);
  place(element);
  return { state, element };
}

const all = page.getByRole("note");
const texts = () => all.elements().map((note) => (note as HTMLElement).innerText.trim());

test("a layer that is not confirmed is named, wherever one is", () => {
  mounted();
  expect(texts()).toEqual(["⚠ Layer 2: not confirmed against the model"]);
});

test("strongly where it is on the screen", () => {
  const { state, element } = mounted({ layer: 0 });
  const here = () => element.querySelector(".here") !== null;
  expect(here()).toBe(false);
  state.view.value = "model";
  expect(here()).toBe(true);
  state.view.value = "neuron";
  state.layer.value = 2;
  expect(here()).toBe(true);
});

test("each stack has its own, by the numbers of the model", () => {
  const { state, element } = mounted({ stack: "cross" }, [], OVERVIEW);
  expect(texts()).toEqual(["⚠ Layer 3: not confirmed against the model"]);
  state.stack.value = "encoder";
  expect(all.elements()).toEqual([]);
  expect(element.hidden).toBe(true);
});

test("what was saved is said, as the kernel says it", () => {
  const { state, element } = mounted({ stack: "encoder" }, [], OVERVIEW);
  expect(element.hidden).toBe(true);
  state.note.value = "Saved with this notebook: layer <b>1</b>";
  expect(texts()).toEqual(["Saved with this notebook: layer <b>1</b>"]);
  state.note.value = "";
  expect(element.hidden).toBe(true);
});

test("what is missing is counted, and listed when asked for", async () => {
  const missing = ["layers.4.mixer: attends without a softmax", "layers.5: <b>compiled</b>"];
  mounted({ stack: "encoder" }, missing, OVERVIEW);
  expect(texts()).toEqual(["Not in this record: 2 parts"]);
  const summary = page.getByText("2 parts");
  await expect.element(summary).toHaveAttribute("title", missing.join("\n"));
  await userEvent.tab();
  expect(document.activeElement).toBe(summary.element());
  await userEvent.keyboard("{Enter}");
  const items = page.getByRole("listitem").elements();
  expect(items.map((item) => item.textContent)).toEqual(missing);
});

test("one that is missing is named at once", () => {
  const missing = ["text: its tokenizer cut off 190 of 702 tokens"];
  mounted({ stack: "encoder" }, missing, OVERVIEW);
  expect(texts()).toEqual([`Not in this record: ${missing[0]}`]);
});

test("a tokenizer that is likely another model's is a doubt, not something missing", () => {
  const doubt = "the tokenizer is likely another model's: it has 9 tokens";
  mounted({ stack: "encoder" }, [doubt, `B: ${doubt}`, "layers.5: compiled"], OVERVIEW);
  const said = "The tokenizer is likely another model's: it has 9 tokens";
  expect(texts()).toEqual([`⚠ ${said}`, `⚠ B: ${said}`, "Not in this record: layers.5: compiled"]);
});
