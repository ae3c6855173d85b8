/** The size of the pictures in the model view. */

import { expect, test } from "vitest";
import { modelLayout } from "../../../src/views/model/layout.ts";
import { rowsOf } from "../../../src/views/shared/all-heads/heads.ts";
import { stateOf } from "../../support/choices.ts";

test("pictures shrink by up to a quarter so that all rows are in sight", () => {
  const rows = rowsOf(stateOf().shown.stack.value, null);
  const at = (height: number) => modelLayout(1300, height, 1, rows, false);
  const usual = at(5000);
  const tallOf = ({ top, rowPitch }: typeof usual) => top + rows.length * rowPitch;
  // With the means below them.
  const less = at(tallOf(usual));
  expect(less.across).toBeLessThan(usual.across);
  expect(less.across).toBeGreaterThan(0.75 * usual.across);
  expect(tallOf(less)).toBeLessThan(tallOf(usual) - 24);
  // Then they scroll, in their usual size.
  expect(at(0.6 * tallOf(usual)).across).toBe(usual.across);
});
