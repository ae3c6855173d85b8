/** The legend's text while a slow picture is still being drawn. */

import { expect, onTestFinished, test, vi } from "vitest";
import { RASTERIZERS } from "../../../src/raster/jobs.ts";
import { find, mountApp } from "../../support/mounted.ts";
import { expectNoProblems } from "../../support/problems.ts";

expectNoProblems();

test("lines that are not all there are said to be some", async () => {
  const paintLines = vi.spyOn(RASTERIZERS, "lines").mockImplementation(function* () {});
  onTestFinished(() => paintLines.mockRestore());
  const app = await mountApp();
  await expect.poll(() => paintLines.mock.lastCall).toBeDefined();
  const [, { width, height }, show] = paintLines.mock.lastCall as Parameters<typeof paintLines>;
  const draw = (share: number | null) => show(new Uint8ClampedArray(4 * width * height), share);
  const legend = () => find(app, ".about").textContent;
  draw(null);
  await expect.poll(legend).toContain("not all lines are drawn yet");
  expect(legend()).not.toContain("of attention shown");
  draw(99.96);
  await expect.poll(legend).toContain("99.9% of attention shown");
  expect(legend()).not.toContain("yet");
});
