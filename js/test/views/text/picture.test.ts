/** An image in a prompt: its part, its grids, and regions that are drawn on it. */

import { computed, signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { RunningText } from "../../../src/data/manifest.ts";
import { attentionOf } from "../../../src/state/lens.ts";
import { palette } from "../../../src/styles/palette.ts";
import { imagesOf, placeOf } from "../../../src/views/text/images.ts";
import { picture } from "../../../src/views/text/picture.ts";
import { lookOf, partsOf, type Region } from "../../../src/views/text/shares.ts";
import { stateOf, storeOf } from "../../support/choices.ts";
import { CROPS, IMAGE, LABELS, pictured } from "../../support/pictured.ts";
import { place } from "../../support/place.ts";
import { testScope } from "../../support/test-scope.ts";

const record = pictured(IMAGE, CROPS);
const tokens = LABELS.length;
/** "Look" and an image of seven tokens, of which one is a sink. */
const text: RunningText = {
  text: "Look <image> why",
  offsets: [0, 4, ...Array(7).fill([5, 12]).flat(), 13, 16],
  messages: [{ role: "user", start: 0, end: tokens }],
  template: [],
  sentences: [
    [0, 1],
    [1, 8],
    [8, 9],
  ],
  first: tokens - 1,
  answer: null,
  shuffled: null,
};
const SINK = 3;
const weights = Float32Array.from({ length: tokens }, (_, key) => (key + 1) / 45);

function shown() {
  const [store, state] = [storeOf(record), stateOf({}, record)];
  const images = imagesOf(store.manifest, text, store.manifest.stacks[0].keys);
  const kinds = Float32Array.from(weights, (_, key) => (key === SINK ? 3 : 0));
  const parts = partsOf(text, "sentences", [], images);
  const measure = { kinds, parts, rows: 1, beside: "even", shuffled: null } as const;
  const isPatch = (key: number) => key >= 1 && key < 8;
  const look = lookOf({ text, labels: LABELS, isPatch, ...measure }, () => weights, [0, 0]);
  const veil = {
    look: signal(look),
    lens: computed(() => attentionOf(state)),
    weights: signal(weights.map((weight, key) => (look.counted[key] ? weight : 0))),
    largest: signal(weights[7]),
    patch: signal<number | null>(null),
    region: signal<Region | null>(null),
  };
  const context = {
    ...{ scope: testScope(), state, store, palette: signal(palette(false)) },
    ...{ width: signal(1000), height: signal(800), onPaper: signal(false) },
  };
  const [locked, taken] = [[] as (number | null)[], [] as (Region | null)[]];
  const parted = {
    outlines: computed(() => []),
    pointed: signal<number | null>(null),
    partOf: (token: number) => token,
    lockPart: (index: number | null) => void locked.push(index),
  };
  const take = () => void taken.push(veil.region.value);
  const element = picture(context, images[0], { ...veil, ...parted }, take);
  place(element);
  return { element, images, parts, look, veil, state, locked, taken };
}

const grid = () => page.getByRole("grid");
const small = () => page.getByRole("listbox", { name: "Grids of image" }).getByRole("option");

test("an image is a part by its name, and a word in the text of others", () => {
  const { images, parts, look } = shown();
  expect(parts.map(({ name, words }) => [name, words])).toEqual([
    ["sentence 1", "Look"],
    ["image", ""],
    ["sentence 3", "why"],
  ]);
  expect(partsOf(text, "messages", [], images)[0].words).toBe("Look [image] why");
  expect(placeOf(images, 6)).toBe("crop 1 0,1");
  expect(placeOf([...images, { ...images[0], name: "image 2" }], 6)).toBe("image, crop 1 0,1");
  expect(look.sinks.map(({ label }) => label)).toEqual(["patches"]);
});

test("small pictures have the shares of their grids, without sinks, and choose one", async () => {
  const { state } = shown();
  const counted = 45 - (SINK + 1);
  const shares = [2 + 3 + 5, 6 + 7 + 8].map((sum) => `${Math.round((100 * sum) / counted)}%`);
  await expect
    .poll(() =>
      small()
        .elements()
        .map(({ textContent }) => textContent),
    )
    .toEqual([`whole${shares[0]}`, `crop 1${shares[1]}`]);
  await expect.element(grid()).toHaveAccessibleName("image, whole, 2 × 2 patches");
  await userEvent.click(small().nth(1));
  expect(state.grid.value).toBe(1);
  await expect.element(grid()).toHaveAccessibleName("image, crop 1, 2 × 2 patches");
});

test("a click locks, arrow keys move, and with Shift they draw a region", async () => {
  const { veil, locked, taken } = shown();
  await userEvent.click(grid(), { position: { x: 10, y: 10 } });
  expect(locked).toEqual([1]);
  await userEvent.keyboard("{ArrowRight}");
  expect(veil.patch.value).toBe(2);
  await userEvent.keyboard("{Shift>}{ArrowDown}{/Shift}");
  expect(veil.region.value).toEqual({ name: "whole: rows 0–1, column 1", keys: [2, 4] });
  await userEvent.keyboard("{Enter}");
  expect(taken).toEqual([{ name: "whole: rows 0–1, column 1", keys: [2, 4] }]);
  expect(locked).toEqual([1]);
});

test("a pointer that is dragged draws a region", async () => {
  const { element, taken, locked } = shown();
  /** What a drag takes. The picture is made anew whenever its width becomes known, so this has no pause. */
  const drag = () => {
    const stage = element.querySelector(".picture-stage") as HTMLElement;
    stage.setPointerCapture = () => {};
    const { left, top, width, height } = stage.getBoundingClientRect();
    const at = (type: string, x: number, y: number, buttons: number) =>
      stage.dispatchEvent(
        new PointerEvent(type, {
          ...{ clientX: left + x * width, clientY: top + y * height, bubbles: true, buttons },
        }),
      );
    // In the box of a picture that is made anew, a drag may be a click on a patch.
    taken.length = locked.length = 0;
    // Without a size, it is not laid out, and a click would lock a patch.
    if (!width || !height) return taken;
    at("pointerdown", 0.2, 0.2, 1);
    at("pointermove", 0.8, 0.2, 1);
    at("click", 0.8, 0.2, 0);
    return taken;
  };
  await expect.poll(drag).toEqual([{ name: "whole: row 0, columns 0–1", keys: [1, 2] }]);
  expect(locked).toEqual([]);
});

test("a video is one part, with a grid for each of its frames", () => {
  const { manifest } = storeOf(record);
  const { keys } = manifest.stacks[0];
  if (!keys.patches) throw new Error("the record has an image");
  const grids = keys.patches.grids.map((grid, at) => ({
    ...grid,
    name: `frame ${at + 1} of video 2`,
  }));
  const [video] = imagesOf(manifest, text, { ...keys, patches: { ...keys.patches, grids } });
  expect(video.name).toBe("video 2");
  expect(video.grids.map(({ grid }) => grid.name)).toEqual(grids.map(({ name }) => name));
});
