/** A pointer that moves from token to token changes pictures, and hardly the document. */

import { describe, expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { Choices } from "../../src/state/choices.ts";
import { focus, parts } from "../support/locators.ts";
import { type App, drawn, mountApp, mountModel } from "../support/mounted.ts";
import { changesIn } from "../support/mutations.ts";
import { twoFrames } from "../support/place.ts";
import { expectNoProblems } from "../support/problems.ts";

expectNoProblems();

/** The changes of a sequence of hovers, after a first one. */
async function changes(app: App, allowed: string, first: Element, others: readonly Element[]) {
  await userEvent.hover(first);
  await twoFrames();
  return changesIn(app, allowed, async () => {
    for (const element of others) {
      await userEvent.hover(element);
      await twoFrames();
    }
  });
}

/** Each hover marks one token, and no longer the one before. */
const MARKS = 2;

test.for<Partial<Choices>>([
  {},
  { heads: [1] },
  { orientation: "horizontal" },
  { words: true },
  { query: 3 },
])("in the head view with %j, only the status line and the marked token", async (choices) => {
  const app = await mountApp({ choices });
  await drawn(app);
  await twoFrames();
  for (const side of ["Queries", "Keys"] as const) {
    // A click on a token leaves the focus in its list.
    focus(parts().list(side));
    const [first, ...others] = parts().list(side).getByRole("option").elements();
    const found = await changes(app, ".status", first, others);
    expect(found.filter((change) => !change.startsWith("class of div"))).toEqual([]);
    expect(found.length).toBeLessThanOrEqual(MARKS * others.length);
  }
});

describe("in the model view", () => {
  test("only the status line and the marked token of the opened head", async () => {
    const app = await mountModel({ choices: { opened: true, layer: 0, head: 2 } });
    const region = parts(page.getByRole("region", { name: /opened$/ }));
    await expect.element(region.list("Queries")).toBeInTheDocument();
    await drawn(app);
    await twoFrames();
    const [first, ...others] = region.list("Queries").getByRole("option").elements();
    const found = await changes(app, ".status", first, others);
    expect(found.filter((change) => !change.startsWith("class of div"))).toEqual([]);
    expect(found.length).toBeLessThanOrEqual(MARKS * others.length);
  });

  test("only the status line and the preview of a head", async () => {
    const app = await mountModel();
    const [first, ...others] = parts().grid.getByRole("gridcell").elements();
    expect(await changes(app, ".status, .preview", first, others)).toEqual([]);
  });
});
