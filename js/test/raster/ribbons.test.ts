/** Ribbons as one picture: each from its start to its end, one by one or merged. */

import { describe, expect, test } from "vitest";
import { compiled } from "../../src/kernels/compiled.ts";
import { paintRibbons, type RibbonsJob } from "../../src/raster/paint-ribbons.ts";

await compiled();

const [WIDTH, HEIGHT] = [100, 60];

const JOB: RibbonsJob = {
  width: WIDTH,
  height: HEIGHT,
  first: 10,
  end: 90,
  forward: true,
  merged: [],
  cell: 1,
  ribbons: [],
};

/** The pixels of a picture: red, green, blue and opacity at a place. */
function drawn(job: Partial<RibbonsJob>) {
  let image: ImageData | undefined;
  paintRibbons({ ...JOB, ...job }, (pixels) => {
    image = new ImageData(pixels.slice(), WIDTH, HEIGHT);
  });
  const data = image?.data ?? [];
  return (x: number, y: number) => [...data.slice(4 * (y * WIDTH + x), 4 * (y * WIDTH + x) + 4)];
}

const ribbon = (start: number, end: number) =>
  ({ start, end, thickness: 6, ink: [200, 100, 50], opacity: 0.5 }) as const;

describe.for([true, false])("where they start on the left is %s", (forward) => {
  const [near, far] = forward ? [10, 89] : [89, 10];

  test("each goes from its start to its end, and no further", () => {
    const at = drawn({ forward, ribbons: [ribbon(10, 50)] });
    for (const [x, y] of [
      [near, 10],
      [50, 30],
      [far, 50],
    ]) {
      const [red, green, blue, opacity] = at(x, y);
      expect([red, green, blue]).toEqual([200, 100, 50]);
      expect(Math.abs(opacity - 128)).toBeLessThanOrEqual(1);
    }
    for (const [x, y] of [
      [near, 50],
      [far, 10],
      [5, 10],
      [95, 50],
    ])
      expect(at(x, y)).toEqual([0, 0, 0, 0]);
  });

  test("merged ones are as opaque at their ends as the sum, and meet at the start", () => {
    const ends = new Float32Array(4 * HEIGHT);
    for (let y = 20; y < 40; y++) ends.set([0.5 * 200, 0.5 * 100, 0.5 * 50, 0.5], 4 * y);
    for (let y = 44; y < 56; y++) ends.set([4 * 200, 4 * 100, 4 * 50, 4], 4 * y);
    const at = drawn({ forward, merged: [{ start: 10, ends }] });
    expect(at(far, 30)).toEqual([200, 100, 50, 128]);
    expect(at(far, 50)).toEqual([200, 100, 50, 255]);
    expect(at(far, 10)[3]).toBe(0);
    // Halfway they are half as far from the start.
    expect(at(50, 20)[3]).toBe(128);
    expect(at(50, 30)[3]).toBe(255);
    expect(at(50, 50)[3]).toBe(0);
  });
});

test("one that comes later covers those before", () => {
  const below = { ...ribbon(30, 30), ink: [0, 0, 0], opacity: 1 } as const;
  expect(drawn({ ribbons: [below, ribbon(30, 30)] })(50, 30)).toEqual([100, 50, 25, 255]);
});
