import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { el } from "../../src/parts/dom.ts";
import { header } from "../../src/parts/header.ts";
import type { Choices } from "../../src/state.ts";
import { stateOf, storeOf } from "../choices.ts";
import { place } from "../place.ts";
import { OVERVIEW, RECORD, type SentRecord } from "../vectors.ts";

function mounted(choices: Partial<Choices> = {}, record = RECORD as SentRecord) {
  const state = stateOf(choices, record);
  place(...header(state, storeOf(record), el("button", {}, "help")));
  return state;
}

const tab = (name: string) => page.getByRole("tab", { name, exact: true });
const spin = (name: string) => page.getByRole("spinbutton", { name, exact: true });

describe("the view's tabs", () => {
  test("are a tablist, with one selected and to be tabbed to", async () => {
    const state = mounted({ view: "model" });
    const list = page.getByRole("tablist", { name: "View" });
    const names = list.getByRole("tab").elements();
    expect(names.map((element) => element.textContent)).toEqual(["Head", "Model", "Neuron"]);
    for (const [name, selected] of [
      ["Head", "false"],
      ["Model", "true"],
      ["Neuron", "false"],
    ]) {
      await expect.element(tab(name)).toHaveAttribute("aria-selected", selected);
      await expect.element(tab(name)).toHaveAttribute("tabindex", selected === "true" ? "0" : "-1");
    }
    state.view.value = "neuron";
    await expect.element(tab("Neuron")).toHaveAttribute("aria-selected", "true");
    await expect.element(tab("Model")).toHaveAttribute("aria-selected", "false");
  });

  test("switch by click", async () => {
    const state = mounted();
    await userEvent.click(tab("Neuron"));
    expect(state.view.value).toBe("neuron");
  });

  test("switch by arrows, around the ends, and take the focus along", async () => {
    const state = mounted();
    (tab("Head").element() as HTMLElement).focus();
    for (const [key, view, label] of [
      ["{ArrowRight}", "model", "Model"],
      ["{ArrowRight}", "neuron", "Neuron"],
      ["{ArrowRight}", "head", "Head"],
      ["{ArrowLeft}", "neuron", "Neuron"],
      ["{ArrowLeft}", "model", "Model"],
    ]) {
      await userEvent.keyboard(key);
      expect(state.view.value).toBe(view);
      expect(document.activeElement?.textContent).toBe(label);
    }
  });
});

describe("layer and head", () => {
  test("have the range of the record", async () => {
    const state = mounted({ layer: 2, head: 9 });
    await expect.element(spin("Layer")).toHaveAttribute("aria-valuemax", "2");
    await expect.element(spin("Head")).toHaveAttribute("aria-valuemax", "9");
    (spin("Layer").element() as HTMLElement).focus();
    await userEvent.keyboard("{ArrowDown}");
    // Layer 1 has two heads.
    expect([state.layer.value, state.head.value]).toEqual([1, 1]);
    await expect.element(spin("Head")).toHaveAttribute("aria-valuemax", "1");
    await expect.element(spin("Head")).toHaveAttribute("aria-valuenow", "1");
  });

  test("follow the stack", async () => {
    const state = mounted({ stack: "encoder" }, OVERVIEW);
    await expect.element(spin("Head")).toHaveAttribute("aria-valuemax", "1");
    state.stack.value = "cross";
    await expect.element(spin("Head")).toHaveAttribute("aria-valuemax", "0");
  });
});

describe("the filter of a text pair", () => {
  const filter = () => page.getByRole("combobox", { name: "Attention", exact: true });

  test("offers all, and from each text to each", () => {
    mounted();
    const options = filter().getByRole("option").elements();
    expect(options.map((option) => option.textContent)).toEqual([
      "All",
      "A → A",
      "A → B",
      "B → A",
      "B → B",
    ]);
  });

  test("sets the segments, and follows them", async () => {
    const state = mounted();
    await userEvent.selectOptions(filter(), "A → B");
    expect(state.segments.value).toBe("ab");
    state.segments.value = "bb";
    await expect.element(filter()).toHaveValue("bb");
  });

  test("is not there for a single text", () => {
    mounted({ stack: "encoder" }, OVERVIEW);
    expect(filter().elements()).toEqual([]);
  });
});

test("the help button has its place", async () => {
  mounted();
  await expect.element(page.getByRole("button", { name: "help" })).toBeVisible();
});
