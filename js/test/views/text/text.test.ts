/** The text view of a record that has nothing for it. */

import { expect, test } from "vitest";
import { stateOf, storeOf } from "../../support/choices.ts";
import { sourceOf } from "../../support/mounted.ts";
import { mountView } from "../../support/view.ts";

test("a plain text without an answer says what to capture", () => {
  const { element } = mountView(stateOf({ view: "text" }), storeOf(undefined, sourceOf()));
  expect(element.textContent).toMatch(/^Nothing was generated here and .* with generate=, or/);
});
