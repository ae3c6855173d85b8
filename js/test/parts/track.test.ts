import { expect, test } from "vitest";
import { trackOf, uniformTrack } from "../../src/parts/track.ts";

test("places follow each other, each with its own size", () => {
  const track = trackOf([30, 10, 60]);
  expect(track.length).toBe(100);
  expect([0, 1, 2].map(track.start)).toEqual([0, 30, 40]);
  expect([0, 1, 2].map(track.size)).toEqual([30, 10, 60]);
  expect([0, 1, 2].map(track.middle)).toEqual([15, 35, 70]);
});

test("places may be alike", () => {
  const track = uniformTrack(4, 16);
  expect(track.length).toBe(64);
  expect([0, 3].map(track.start)).toEqual([0, 48]);
  expect(track.middle(1)).toBe(24);
});

test("there may be none", () => {
  expect(trackOf([]).length).toBe(0);
});
