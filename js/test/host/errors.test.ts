/** Errors of the kernel are shown in the view. */

import { expect, test } from "vitest";
import { userEvent } from "vitest/browser";
import { expectNoProblems } from "../support/problems.ts";
import { modelOf, rendered } from "./rendered.ts";

expectNoProblems();

test("an error that nobody asked for is an alert, until it is dismissed", async () => {
  const model = modelOf();
  const { alert } = await rendered(model);
  model.deliver({ error: "layer must be 0 to 2, not 7" });
  await expect.element(alert).toHaveTextContent("layer must be 0 to 2, not 7");
  // The next one takes its place.
  model.deliver({ error: "head must be 0 to 3, not 9" });
  await expect.element(alert).toHaveTextContent("head must be 0 to 3, not 9");
  await userEvent.click(alert.getByRole("button", { name: "Dismiss" }));
  await expect.element(alert).not.toBeInTheDocument();
});

test.for([{ id: "1", error: "there is no such layer" }, { error: 7 }, {}, null])(
  "%j is not for the reader of the view",
  async (message) => {
    const model = modelOf();
    const { alert } = await rendered(model);
    model.deliver(message);
    await expect.element(alert).not.toBeInTheDocument();
  },
);
