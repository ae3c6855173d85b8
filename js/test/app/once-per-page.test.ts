/** Widgets of one page share values, though each has its own copy of the script. */

import { expect, test } from "vitest";
import { styleSheet } from "../../src/styles/style-sheet.ts";

test("a second copy of the script has the same style sheet", async () => {
  // Another address is another copy of the module.
  const copy = "../../src/styles/style-sheet.ts?copy";
  const second: { styleSheet: typeof styleSheet } = await import(/* @vite-ignore */ copy);
  expect(second.styleSheet).not.toBe(styleSheet);
  expect(second.styleSheet()).toBe(styleSheet());
});
