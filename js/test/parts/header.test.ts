import { signal } from "@preact/signals-core";
import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { el } from "../../src/parts/dom.ts";
import { header, recordNames } from "../../src/parts/header.ts";
import type { Choices } from "../../src/state/choices.ts";
import { VIEWS } from "../../src/views/index.ts";
import { stateOf, storeOf } from "../support/choices.ts";
import { mountApp } from "../support/mounted.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";
import {
  OVERVIEW,
  RECORD,
  type SentRecord,
  type SentStack,
  withStacks,
} from "../support/vectors.ts";

interface Stack extends SentStack {
  name: string;
  queries: { labels: string[] };
}

/** The record with other words about its stacks. */
function edited(record: SentRecord, change: (stack: Stack) => void): SentRecord {
  const { stacks } = structuredClone(record.manifest) as { stacks: Stack[] };
  stacks.forEach(change);
  return { ...record, manifest: withStacks(stacks, record) };
}

function mounted(choices: Partial<Choices> = {}, record = RECORD as SentRecord) {
  const state = stateOf(choices, record);
  const idle = signal({ layer: "", head: "" });
  const tools = el("div", {});
  const common = [el("button", {}, "help")];
  const tabs = state.views.map((name) => VIEWS[name]);
  const shown = signal(null);
  place(header(testScope(), state, storeOf(record), { tabs, idle, tools, shown, common }));
  return state;
}

const tab = (name: string) => page.getByRole("tab", { name, exact: true });
const spin = (name: string) => page.getByRole("spinbutton", { name, exact: true });

describe("the view's tabs", () => {
  test("are a tablist, with one selected and to be tabbed to", async () => {
    const state = mounted({ view: "model" });
    const list = page.getByRole("tablist", { name: "View" });
    const names = list.getByRole("tab").elements();
    expect(names.map((element) => element.textContent)).toEqual(["Head", "Model", "Neuron", "Map"]);
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
      ["{ArrowRight}", "map", "Map"],
      ["{ArrowRight}", "head", "Head"],
      ["{ArrowLeft}", "map", "Map"],
      ["{ArrowLeft}", "neuron", "Neuron"],
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
    const record = edited(RECORD, ({ queries }) => Object.assign(queries, { segments: null }));
    mounted({}, record);
    expect(filter().elements()).toEqual([]);
  });
});

describe("the filter of stacks", () => {
  const filter = (name: string) => page.getByRole("combobox", { name, exact: true });

  test("lists them by readable names", () => {
    const record = edited(OVERVIEW, (stack) => {
      if (stack.name === "cross") stack.name = "cross_vision";
    });
    mounted({}, record);
    const options = filter("Attention").getByRole("option").elements();
    expect(options.map((option) => option.textContent)).toEqual(["Encoder", "Cross vision"]);
  });

  test("sets the stack, and follows it", async () => {
    const state = mounted({ layer: 1, query: 20 }, OVERVIEW);
    await userEvent.selectOptions(filter("Attention"), "Cross");
    expect([state.stack.value, state.layer.value, state.query.value]).toEqual(["cross", 3, null]);
    await expect.element(spin("Layer")).toHaveAttribute("aria-valuemax", "7");
    state.stack.value = "encoder";
    await expect.element(filter("Attention")).toHaveValue("encoder");
  });

  test("stands beside that of a text pair, which is there for stacks of a pair only", async () => {
    const record = edited(OVERVIEW, ({ name, queries }) => {
      if (name === "encoder") Object.assign(queries, { segments: queries.labels.map(() => 0) });
    });
    const state = mounted({}, record);
    await expect.element(filter("Segments")).toBeVisible();
    await userEvent.selectOptions(filter("Segments"), "A → A");
    expect(state.segments.value).toBe("aa");
    await userEvent.selectOptions(filter("Attention"), "Cross");
    await expect.element(filter("Segments")).not.toBeInTheDocument();
    await expect.element(filter("Attention")).toBeVisible();
  });

  test("is not there for a single stack", () => {
    mounted();
    const names = page.getByRole("option").elements();
    expect(names.map((option) => option.textContent)).not.toContain("Self");
  });
});

test("the help button has its place", async () => {
  mounted();
  await expect.element(page.getByRole("button", { name: "help" })).toBeVisible();
});

describe("the options of a narrow header", () => {
  const options = page.getByRole("button", { name: "Options" });
  const filter = page.getByRole("combobox", { name: "Attention" });
  const weighting = page.getByRole("combobox", { name: "Weighting" });

  test("open with their button, and close with Escape and when the focus leaves", async () => {
    const app = await mountApp({ width: 600 });
    await expect.element(weighting).not.toBeInTheDocument();
    await userEvent.click(options);
    await userEvent.selectOptions(weighting, "Scores");
    expect(app.state.lens.value).toBe("scores");
    app.state.query.value = 1;
    await userEvent.keyboard("{Escape}");
    await expect.element(weighting).not.toBeInTheDocument();
    await expect.poll(() => app.shadow.activeElement).toBe(options.element());
    expect(app.state.query.value).toBe(1);
    await userEvent.click(options);
    await userEvent.click(weighting);
    await userEvent.click(tab("Head"));
    await expect.element(weighting).not.toBeInTheDocument();
  });

  test("are in the header where there is room, the first ones first", async () => {
    const { parent } = await mountApp({ width: 1100 });
    await expect.element(filter).toBeVisible();
    await expect.element(options).toBeVisible();
    await expect.element(weighting).not.toBeInTheDocument();
    parent.style.width = "1900px";
    await expect.element(weighting).toBeVisible();
    await expect.element(filter).toBeVisible();
    await expect.element(options).not.toBeInTheDocument();
  });
});

test("the words that differ are marked in the names of records", () => {
  const names = [
    ["too", "big", "."],
    ["too", "small", "."],
  ] as const;
  const element = recordNames({ names, remark: "", stacks: new Map() });
  expect(element.ariaLabel).toBe("A: too big ., B: too small .");
  expect([...element.querySelectorAll("mark")].map((own) => own.textContent)).toEqual([
    "big",
    "small",
  ]);
});
