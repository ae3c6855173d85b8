/** The legend's text while a slow picture is still being drawn. */

import { expect, test, vi } from "vitest";
import type { LinesJob } from "../../../src/raster/lines-job.ts";
import { find, mountApp } from "../../support/mounted.ts";
import { expectNoProblems } from "../../support/problems.ts";

expectNoProblems();

type Draw = (share: number | null) => void;

const lines = vi.hoisted(() => ({ draw: null as Draw | null }));

vi.mock("../../../src/raster/run.ts", () => ({
  rasterize: (
    kind: string,
    _matrices: unknown,
    { width, height }: LinesJob,
    show: (pixels: Uint8ClampedArray, share: number | null) => void,
  ) => {
    if (kind === "lines") {
      lines.draw = (share) => show(new Uint8ClampedArray(4 * width * height), share);
    }
    return () => {};
  },
}));

test("lines that are not all there are said to be some", async () => {
  const app = await mountApp();
  await expect.poll(() => lines.draw).not.toBeNull();
  const draw = lines.draw as Draw;
  const legend = () => find(app, ".about").textContent;
  draw(null);
  await expect.poll(legend).toContain("not all lines are drawn yet");
  expect(legend()).not.toContain("of attention shown");
  draw(99.96);
  await expect.poll(legend).toContain("99.9% of attention shown");
  expect(legend()).not.toContain("yet");
});
