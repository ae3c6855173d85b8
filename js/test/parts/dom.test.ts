import { expect, test } from "vitest";
import { canvasRatio, el, revealWithin, setAttributes, sizeCanvas } from "../../src/parts/dom.ts";
import { place } from "../support/place.ts";

test("strings become text, never elements", () => {
  const element = el("p", {}, "<b>bold</b>", el("i", {}, "&amp;"));
  expect(element.querySelector("b")).toBeNull();
  expect(element.textContent).toBe("<b>bold</b>&amp;");
});

test("attributes that are false, null or undefined are left out; true is there without a value", () => {
  const element = el("p", { a: false, b: null, c: undefined, d: true, e: 0, f: "" });
  const attributes = [...element.attributes].map(({ name, value }) => [name, value]);
  expect(attributes).toEqual([
    ["d", ""],
    ["e", "0"],
    ["f", ""],
  ]);
});

test("attributes are changed and taken away later", () => {
  const element = el("p", { a: 1, b: 2, c: 3 });
  setAttributes(element, { a: 4, b: null });
  expect(element.outerHTML).toBe('<p a="4" c="3"></p>');
});

test.for([1, 1.5, 2])(
  "a canvas has the screen's %f pixels, and is drawn in CSS pixels",
  (ratio) => {
    const own = Object.getOwnPropertyDescriptor(window, "devicePixelRatio") as PropertyDescriptor;
    Object.defineProperty(window, "devicePixelRatio", { value: ratio, configurable: true });
    try {
      const canvas = el("canvas");
      const context = sizeCanvas(canvas, 30, 20);
      expect([canvas.width, canvas.height]).toEqual([30 * ratio, 20 * ratio]);
      expect([canvas.style.width, canvas.style.height]).toEqual(["30px", "20px"]);
      context.fillRect(29, 19, 1, 1);
      const corner = context.getImageData(30 * ratio - 1, 20 * ratio - 1, 1, 1).data[3];
      expect(corner).toBeGreaterThan(0);
      // Sized again, it is clear again, and its scale is not applied twice.
      sizeCanvas(canvas, 30, 20).fillRect(0, 0, 10, 10);
      expect(context.getImageData(11 * ratio, 11 * ratio, 1, 1).data[3]).toBe(0);
    } finally {
      Object.defineProperty(window, "devicePixelRatio", own);
    }
  },
);

test("a canvas that is too long for some browsers has fewer pixels", () => {
  expect(canvasRatio(100, 100)).toBe(devicePixelRatio);
  const canvas = el("canvas");
  sizeCanvas(canvas, 50, 32768);
  expect([canvas.width, canvas.height]).toEqual([25, 16384]);
  expect(canvas.style.height).toBe("32768px");
});

test("a canvas is never without a pixel, which drawing would throw at", () => {
  const canvas = el("canvas");
  sizeCanvas(canvas, 0, 0);
  expect([canvas.width, canvas.height]).toEqual([1, 1]);
});

test("what is revealed scrolls its own frame, and nothing around it", () => {
  const rows = Array.from({ length: 20 }, () => el("div", { style: "height: 50px" }));
  const inner = el("div", { style: "height: 200px; overflow: auto" }, ...rows);
  const outer = el("div", { style: "height: 100px; overflow: auto" }, inner);
  place(outer);
  const seen = (row: HTMLElement) => {
    const [box, frame] = [row, inner].map((element) => element.getBoundingClientRect());
    return box.top >= frame.top && box.bottom <= frame.bottom;
  };
  for (const at of [10, 19, 11, 0]) {
    revealWithin(inner, rows[at]);
    expect(seen(rows[at])).toBe(true);
  }
  revealWithin(inner, rows[10]);
  const { scrollTop } = inner;
  revealWithin(inner, rows[9]);
  expect(inner.scrollTop).toBe(scrollTop);
  expect(outer.scrollTop).toBe(0);
});
