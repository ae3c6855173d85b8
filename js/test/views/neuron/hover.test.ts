/** The pointer over tokens and pictures changes pictures, classes and the status line, no more. */

import { expect, onTestFinished, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { parts } from "../../support/locators.ts";
import { type App, find, mountApp } from "../../support/mounted.ts";
import { twoFrames } from "../../support/place.ts";
import { expectNoProblems } from "../../support/problems.ts";

expectNoProblems();

const { option, status } = parts();
const neurons = page.getByRole("listbox", { name: "Neurons", exact: true });

/** Calls `act`, and returns the changes of the document, those of the status line left out. */
async function changes(app: App, act: () => Promise<void>): Promise<string[]> {
  const observer = new MutationObserver(() => {});
  const everything = { attributes: true, characterData: true, childList: true, subtree: true };
  observer.observe(app.root, everything);
  onTestFinished(() => observer.disconnect());
  const line = find(app, ".status");
  await act();
  await twoFrames();
  return observer
    .takeRecords()
    .filter(({ target }) => !line.contains(target))
    .map(({ target, type, attributeName }) => {
      const { className, nodeName } = target as Element;
      return `${type} ${attributeName ?? ""} of ${nodeName} ${className}`;
    });
}

const isClass = (change: string) => change.startsWith("attributes class of DIV");

test.for([true, false])("vectors shown: %s", async (expanded) => {
  const app = await mountApp({ choices: { view: "neuron", layer: 2, expanded } });
  await userEvent.hover(option("Queries", 1));
  const said = new Set([status()]);
  const found = await changes(app, async () => {
    for (const [list, at] of [
      ["Queries", 5],
      ["Queries", 7],
      ["Keys", 3],
      ["Keys", 5],
      ["Queries", 4],
    ] as const) {
      await userEvent.hover(option(list, at));
      await expect.poll(() => said.has(status())).toBe(false);
      said.add(status());
    }
  });
  expect(found.filter((change) => !isClass(change))).toEqual([]);
  // Changes of the token that is left, of the one that is entered, and of both explained queries.
  expect(found.length).toBeLessThanOrEqual(5 * 4);
});

test("over the picture and its neurons", async () => {
  const app = await mountApp({ choices: { view: "neuron" }, width: 1100 });
  await userEvent.hover(neurons, { position: { x: 5, y: 40 } });
  await expect.poll(status).toMatch(/ · neuron \d: q /);
  const before = status();
  const found = await changes(app, async () => {
    await userEvent.hover(neurons, { position: { x: 30, y: 100 } });
    await expect.poll(status).not.toBe(before);
    await userEvent.hover(find(app, ".neurons canvas"), { position: { x: 130, y: 60 } });
  });
  expect(found.filter((change) => !isClass(change))).toEqual([]);
});
