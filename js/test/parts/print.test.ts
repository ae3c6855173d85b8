import { afterEach, expect, test } from "vitest";
import { el } from "../../src/parts/dom.ts";
import { printAsFigure } from "../../src/parts/save.ts";
import { Scope } from "../../src/scheduling/scope.ts";

const scope = new Scope();
const root = el("div", {});

afterEach(() => scope.end());

test("on paper there is the picture, and afterwards the view as it was", async () => {
  let picture: HTMLElement | null = null;
  let widthWhenPainted = "";
  document.body.append(root);
  root.style.height = "10px";
  printAsFigure(scope, root, () => {
    widthWhenPainted = root.style.width;
    return picture;
  });
  await new Promise((done) => setTimeout(done, 300));
  const width = root.offsetWidth;

  dispatchEvent(new Event("beforeprint"));
  expect(document.querySelector(".paper")).toBe(null);
  expect(root.classList.contains("printing")).toBe(false);
  dispatchEvent(new Event("afterprint"));

  picture = el("canvas");
  document.body.style.width = "100px";
  dispatchEvent(new Event("beforeprint"));
  expect(widthWhenPainted).toBe(`${width}px`);
  expect(document.querySelector(".paper")?.firstChild).toBe(picture);
  expect(root.classList.contains("printing")).toBe(true);

  dispatchEvent(new Event("afterprint"));
  expect(document.querySelector(".paper")).toBe(null);
  expect(root.classList.contains("printing")).toBe(false);
  expect(root.style.width).toBe("");
});
