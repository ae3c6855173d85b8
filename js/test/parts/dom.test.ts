import { expect, test } from "vitest";
import { el, revealWithin, setAttributes } from "../../src/parts/dom.ts";
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
