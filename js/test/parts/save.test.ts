/** The menu in which a view is saved as a figure. */

import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { saveMenu } from "../../src/parts/save.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";

function mounted(live: boolean) {
  const said: string[] = [];
  const menu = saveMenu(testScope(), {
    figure: () => null,
    keep: () => null,
    live: () => live,
    say: (text) => said.push(text),
  });
  place(menu.element);
  return said;
}

const open = () => userEvent.click(page.getByRole("button", { name: "Save figure" }));
const items = () =>
  page
    .getByRole("menuitem")
    .elements()
    .map(({ textContent }) => textContent);

test("beside a kernel, it has the line of Python that makes a PDF", async () => {
  const said = mounted(true);
  await open();
  expect(items()).toEqual(["SVG", "PNG", "PDF"]);
  await userEvent.click(page.getByRole("menuitem", { name: "PDF" }));
  expect(said).toEqual(['For a PDF, run widget.save_figure("x.pdf") in a cell']);
});

test("without a kernel, it has what a browser can draw", async () => {
  mounted(false);
  await open();
  expect(items()).toEqual(["SVG", "PNG"]);
});
