/** The text view of a live widget: the kernel is asked once, and a token is locked in it. */

import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { RECORD } from "../support/vectors.ts";
import { modelOf, rendered } from "./rendered.ts";

interface SentStack {
  readonly name: string;
  readonly queries: { readonly labels: readonly string[] };
  readonly layers: readonly { readonly heads: number }[];
}
const sentManifest = RECORD.manifest as { readonly stacks: readonly SentStack[] };
const [own, ...others] = sentManifest.stacks;
const keys = own.queries.labels.length;
const heads = own.layers.reduce((sum, layer) => sum + layer.heads, 0);

/** A prompt "abc…" of one letter for each key but the last, which is the answer. */
const letters = "abcdefghijklmnopqrstuvwxyz".slice(0, keys);
const text = {
  text: letters,
  offsets: [...letters].flatMap((_, at) => [at, at + 1]),
  messages: [{ role: "user", start: 0, end: keys - 1 }],
  template: [],
  sentences: [
    [0, 2],
    [2, keys - 1],
  ],
  first: keys - 2,
  answer: {
    text: "yz",
    labels: ["y", "z"],
    offsets: [0, 1, 1, 2],
    p: [0.5, 0.25],
    likeliest: [[["y", 0.5]], [["w", 0.75]]],
  },
};
const manifest = { ...sentManifest, stacks: [{ ...own, text }, ...others] };

const floats = (name: string, shape: readonly number[], valueAt: (at: number) => number) => {
  const values = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, at) =>
    valueAt(at),
  );
  return [{ name, dtype: "f32", shape }, new DataView(values.buffer)] as const;
};

/** Shares as the kernel sends them, as levels of their roots. */
const levels = (shape: readonly number[], valueAt: (at: number) => number) => {
  const values = Int8Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, at) =>
    Math.round(255 * Math.sqrt(valueAt(at)) - 128),
  );
  return [{ name: "shares", dtype: "i8", shape }, new DataView(values.buffer)] as const;
};

/** A view whose kernel has sent what the rows attend to. */
async function shown() {
  const model = modelOf({ _manifest: manifest, view: "text" });
  await rendered(model);
  await expect
    .poll(() => model.sent.map(({ op, stack }) => [op, stack]))
    .toEqual([["text", own.name]]);
  const sent = [
    // The first row gives the first sentence three times as much as the second, in all.
    floats("mean", [2, keys], (at) => (at < 2 ? 0.3 : at < keys - 1 ? 0.2 / (keys - 3) : 0)),
    levels([2, 2, heads], (at) => (at === heads - 1 ? 0.9 : 0.1)),
    [{ name: "sinks", dtype: "i8", shape: [keys] }, new DataView(new ArrayBuffer(keys))] as const,
  ];
  model.deliver(
    { id: model.sent[0].id, parts: sent.map(([part]) => part) },
    sent.map(([, data]) => data),
  );
  return model;
}

test("it shows what the kernel sends, and a click locks the row that wrote the token", async () => {
  const model = await shown();
  const first = page.getByRole("option", { name: "y, token 1 of 2, p 0.500" });
  await userEvent.click(first);
  await expect.element(first).toHaveAttribute("aria-selected", "true");
  expect(model.get("query")).toBe(keys - 2);
  const rows = page.getByRole("table", { name: "Where it looks" }).getByRole("row");
  await expect.element(rows.nth(1)).toHaveTextContent(/^1ab75%/);
  await expect.element(rows.nth(2)).toHaveTextContent(/^2.*25%/);
  const strongest = page.getByRole("table", { name: "The heads that look most" });
  await expect.element(strongest.getByRole("row").nth(1)).toHaveTextContent("0.900.10");
  await userEvent.keyboard("{Shift>}{ArrowRight}{/Shift}");
  const answer = page.getByRole("listbox", { name: "Answer" });
  const both = answer.getByRole("option", { selected: true });
  await expect.poll(() => both.elements().length).toBe(2);
});

test("cuts are measured by the kernel, one or all, and in some heads", async () => {
  const model = await shown();
  const table = page.getByRole("table", { name: "Where it looks" });
  await userEvent.click(table.getByRole("button", { name: "Cut sentence 2" }));
  const sent = (op: string) => model.sent.filter((each) => each.op === op);
  await expect.poll(() => sent("cut").length).toBe(1);
  const second = Array.from({ length: keys - 3 }, (_, at) => 2 + at);
  expect(sent("cut")[0]).toMatchObject({ stack: own.name, cuts: [{ keys: second, heads: null }] });
  model.deliver({ id: sent("cut")[0].id, changes: [[-1, -0.5]] }, []);
  await expect
    .element(table.getByRole("button", { name: "Cut sentence 2: −1.50" }))
    .toHaveAttribute("aria-pressed", "true");
  expect(model.get("cut_part")).toBe(2);
  await expect.poll(() => sent("answer").length).toBe(1);
  expect(sent("answer")[0]).toMatchObject({ keys: second });
  model.deliver({ id: sent("answer")[0].id, text: "yw" }, []);
  const without = page.getByRole("table", { name: "Without sentence 2" });
  // 0.5 · e⁻¹ and 0.25 · e^(−½).
  await expect.element(without).toHaveTextContent("without sentence 20.1840.152−1.50");
  await expect.element(page.getByText("It would answer: yw")).toBeVisible();
  await userEvent.click(table.getByRole("button", { name: "if cut" }));
  await expect.poll(() => sent("cut").length).toBe(2);
  expect(sent("cut")[1]).toMatchObject({ cuts: [{ keys: [0, 1] }] });
  model.deliver({ id: sent("cut")[1].id, changes: [[0.25, 0]] }, []);
  await expect.element(table).toHaveTextContent("+0.25");
  await expect.element(without).toHaveTextContent("without any one of 1 others0.6420.250+0.25");
  await userEvent.click(page.getByRole("button", { name: "Check by cutting" }));
  await expect.poll(() => sent("cut").length).toBe(3);
  const checked = (at: number) =>
    (sent("cut")[at] as unknown as { cuts: { heads: unknown[] | null }[] }).cuts.map(
      (cut) => cut.heads?.length,
    );
  const several = Math.min(8, heads);
  // In all heads, it is measured.
  expect(checked(2)).toEqual([several, heads - several, ...Array(11).fill(several)]);
  model.deliver({ id: sent("cut")[2].id, error: "The scores cannot be changed." }, []);
  await expect.element(page.getByText("The scores cannot be changed.")).toBeVisible();
  await userEvent.click(page.getByRole("button", { name: "Check by cutting" }));
  await expect.poll(() => sent("cut").length).toBe(4);
  const changes = checked(3).map((_, at) => (at === 0 ? [0.2, 0] : at === 1 ? [0.1, 0] : [0, 0]));
  model.deliver({ id: sent("cut")[3].id, changes }, []);
  const check = page.getByRole("table", { name: "The link to sentence 1 cut in some heads" });
  await expect
    .element(check)
    .toHaveTextContent(
      `Cut in these ${several}: Δ log p+0.20in the ${heads - several} others+0.10in every head+0.25`,
    );

  await page.viewport(1900, 1000);
  const beside = page.getByRole("combobox", { name: "Beside" });
  await userEvent.selectOptions(beside, "shuffled");
  await expect.poll(() => sent("shuffled").length).toBe(1);
  model.deliver(
    {
      id: sent("shuffled")[0].id,
      ratios: [
        [3, 0.5],
        [1, null],
      ],
    },
    [],
  );
  await expect.element(table.getByRole("columnheader", { name: "shuffled" })).toBeVisible();
});

test("what is selected in the prompt becomes a part, which is cut as any other and removed", async () => {
  const model = await shown();
  const prompt = page.getByRole("group", { name: "Prompt" });
  const table = page.getByRole("table", { name: "Where it looks" });
  const own = table.getByRole("button", { name: /^your part · / });
  const look = page.getByRole("button", { name: "Look at this part" });
  await expect.element(prompt).toBeVisible();
  const [text] = prompt.element().querySelectorAll(".prose span");
  getSelection()?.setBaseAndExtent(text.firstChild as Text, 1, text.firstChild as Text, 2);
  await userEvent.click(look);
  await expect.element(own).toHaveTextContent("your part · b");
  await expect.element(own).toHaveAttribute("aria-pressed", "true");
  const root = prompt.element().getRootNode() as ShadowRoot;
  expect(root.activeElement).toBe(own.element());
  // Half of the first sentence's three quarters.
  await expect.element(table.getByRole("row", { name: /^your part/ })).toHaveTextContent("37%");
  await expect.element(look).not.toBeInTheDocument();
  const sent = (op: string) => model.sent.filter((each) => each.op === op);
  await userEvent.keyboard("k");
  await expect.poll(() => sent("cut").length).toBe(1);
  expect(sent("cut")[0]).toMatchObject({ cuts: [{ keys: [1], heads: null }] });
  // Python knows nothing of it.
  expect(model.get("part") ?? null).toBe(null);
  await userEvent.click(table.getByRole("button", { name: "Remove your part" }));
  await expect.element(own).not.toBeInTheDocument();
  expect(root.activeElement).toBe(prompt.element());
  await userEvent.keyboard("{ArrowRight}p");
  await expect.element(own).toHaveTextContent(/^your part · ab/);
});
