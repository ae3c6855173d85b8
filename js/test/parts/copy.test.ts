import { signal } from "@preact/signals-core";
import { afterEach, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import { copyMenu } from "../../src/parts/copy.ts";
import type { Table } from "../../src/parts/table.ts";
import { detail, hint, type Phrase, token } from "../../src/parts/text.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";

const ROW: Table = {
  name: "Row",
  rows: () => [
    ["key", "weight"],
    ["the", 0.25],
    ["cat", 0.75],
  ],
};
const TEXT = "key\tweight\nthe\t0.25\ncat\t0.75\n";
const MATRIX: Table = {
  name: "Matrix",
  rows: () => [
    ["", "cat"],
    ["the", 1],
  ],
};

function mounted(tables: readonly Table[] = [ROW, MATRIX], status: Phrase = [], link?: string) {
  const said: string[] = [];
  const say = (text: string) => said.push(text);
  const shown = link ? () => link : undefined;
  const copy = copyMenu(testScope(), signal(tables), signal(status), say, shown);
  place(copy.element);
  return { said, copy };
}

afterEach(() => {
  vi.restoreAllMocks();
});

const refuse = () =>
  vi.spyOn(navigator.clipboard, "writeText").mockRejectedValue(new Error("not allowed here"));

async function choose(name: string): Promise<void> {
  await userEvent.click(page.getByRole("button", { name: "Copy" }));
  await userEvent.click(page.getByRole("menuitem", { name }));
}

test("copies a table as tab-separated text, and says how much", async () => {
  const write = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
  const { said } = mounted();
  await choose("Row");
  await expect.poll(() => said).toEqual(["Row copied: 2 lines"]);
  await choose("Matrix");
  await expect.poll(() => said.at(-1)).toBe("Matrix copied: 1 line");
  expect(write.mock.calls).toEqual([[TEXT], ["\tcat\nthe\t1\n"]]);
});

test("copies the status line as text, without hints, if it says anything", async () => {
  const write = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
  const { said } = mounted([], ["Layer 2 ", token("it"), detail(" · 0.43"), hint(" · Esc")]);
  await choose("As text");
  await expect.poll(() => said).toEqual(["Text copied"]);
  expect(write.mock.calls).toEqual([["Layer 2 it · 0.43"]]);
});

test("its key copies the first table, or nothing where there is none", async () => {
  const write = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
  mounted([]).copy.first();
  expect(write).not.toHaveBeenCalled();
  mounted().copy.first();
  expect(write.mock.calls).toEqual([[TEXT]]);
});

test("where that is refused, the old way", async () => {
  refuse();
  let copied = "";
  vi.spyOn(document, "execCommand").mockImplementation(() => {
    copied = (document.activeElement as HTMLTextAreaElement).value;
    return true;
  });
  const { said } = mounted();
  await choose("Row");
  await expect.poll(() => said).toEqual(["Row copied: 2 lines"]);
  expect(copied).toBe(TEXT);
  // Focus is back on the button, and the helper text field is gone.
  await expect.element(page.getByRole("button", { name: "Copy" })).toHaveFocus();
  expect(page.getByRole("textbox").elements()).toEqual([]);
});

test("a frame that has no permission does not try what would be an error", async () => {
  const write = vi.spyOn(navigator.clipboard, "writeText");
  const { featurePolicy } = document as unknown as {
    featurePolicy: { allowsFeature(name: string): boolean };
  };
  const asked = vi.spyOn(featurePolicy, "allowsFeature").mockReturnValue(false);
  vi.spyOn(document, "execCommand").mockReturnValue(true);
  const { said } = mounted();
  await choose("Row");
  await expect.poll(() => said).toEqual(["Row copied: 2 lines"]);
  expect(asked).toHaveBeenCalledWith("clipboard-write");
  expect(write).not.toHaveBeenCalled();
});

test("where nothing is allowed, it says why and offers the text", async () => {
  refuse();
  vi.spyOn(document, "execCommand").mockReturnValue(false);
  const { said } = mounted();
  await choose("Row");
  const dialog = page.getByRole("dialog", { name: "Copy by hand" });
  await expect.element(dialog).toBeVisible();
  await expect.element(dialog.getByText("not allowed here")).toBeVisible();
  expect(said).toEqual(["Row not copied: not allowed here"]);
  const box = dialog.getByRole("textbox", { name: "Text" });
  await expect.element(box).toHaveFocus();
  const { value, selectionStart, selectionEnd, readOnly } = box.element() as HTMLTextAreaElement;
  expect([value, selectionStart, selectionEnd, readOnly]).toEqual([TEXT, 0, TEXT.length, true]);
  await userEvent.keyboard("{Escape}");
  await expect.element(dialog).not.toBeInTheDocument();
  await expect.element(page.getByRole("button", { name: "Copy" })).toHaveFocus();
});

test.for([
  ["https://a.example/page.html#layer=3", "Link copied"],
  [
    "file:///page.html#layer=3",
    "Link copied, for this computer; what is after # works in any copy of the page",
  ],
])("copies a link to the place: %s", async ([link, message]) => {
  const write = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
  const { said } = mounted([], [], link);
  await choose("Link to this place");
  await expect.poll(() => said).toEqual([message]);
  expect(write.mock.calls).toEqual([[link]]);
});
