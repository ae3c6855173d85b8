/** What the legend says of a picture that takes long, while there is more of it to draw. */

import { expect, test, vi } from "vitest";
import type { linesPicture } from "../../../src/raster/lines.ts";
import { find, mountApp } from "../../support/mounted.ts";
import { expectNoProblems } from "../../support/problems.ts";

expectNoProblems();

type Show = Parameters<typeof linesPicture>[2];

const given = vi.hoisted(() => ({ show: null as unknown }));

vi.mock("../../../src/raster/lines.ts", () => ({
  linesPicture: (_matrices: unknown, _job: unknown, show: unknown) => {
    given.show = show;
    return () => {};
  },
}));

test("lines that are not all there are said to be some", async () => {
  const app = await mountApp();
  await expect.poll(() => given.show).not.toBeNull();
  const show = given.show as Show;
  const legend = () => find(app, ".about").textContent;
  const image = new ImageData(1, 1);
  show(image, null);
  await expect.poll(legend).toContain("not all lines are drawn yet");
  expect(legend()).not.toContain("of attention shown");
  show(image, 99.96);
  await expect.poll(legend).toContain("99.9% of attention shown");
  expect(legend()).not.toContain("yet");
});
