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

test.for([
  ["each with its own size", trackOf([30, 10, 60])],
  ["alike", uniformTrack(3, 100 / 3)],
] as const)("a place is found again, %s", ([, track]) => {
  for (const index of [0, 1, 2]) {
    expect(track.at(track.start(index) + 0.1)).toBe(index);
    expect(track.at(track.middle(index))).toBe(index);
  }
  expect(track.at(-5)).toBe(0);
  expect(track.at(1000)).toBe(2);
});
