import { afterEach, describe, expect, test } from "vitest";
import { isDark, watchSurroundings } from "../../src/styles/surroundings.ts";
import { twoFrames } from "../support/place.ts";

const clean = () => {
  document.body.replaceChildren();
  for (const node of [document.documentElement, document.body]) {
    node.removeAttribute("style");
    node.removeAttribute("data-look");
  }
};
afterEach(clean);

/** Nested elements with these backgrounds, the outermost first; the innermost is returned. */
function nested(...backgrounds: readonly string[]): HTMLElement {
  let inner: HTMLElement = document.body;
  for (const background of backgrounds) {
    const element = document.createElement("div");
    element.style.background = background;
    inner.append(element);
    inner = element;
  }
  return inner;
}

describe("isDark", () => {
  test.for([
    ["white", false],
    ["#fafafa", false],
    ["#808080", false],
    ["yellow", false],
    ["#16181c", true],
    ["black", true],
    ["navy", true],
    // Notations of colours in hosts' style sheets.
    ["hsl(0 0% 98%)", false],
    ["oklch(1 0 0)", false],
    ["oklch(0.2 0.02 260)", true],
    ["lab(96 0 0)", false],
    ["color(srgb 0.98 0.98 0.98)", false],
    ["color-mix(in srgb, white, black 5%)", false],
    ["color-mix(in srgb, white 5%, black)", true],
  ] as const)("on %s: %s", ([background, dark]) => {
    expect(isDark(nested(background))).toBe(dark);
  });

  test("looks through transparent parents for the nearest that is not", () => {
    expect(isDark(nested("black", "transparent", "transparent"))).toBe(true);
    expect(isDark(nested("black", "white", "transparent"))).toBe(false);
    expect(isDark(nested("white", "black", "transparent"))).toBe(true);
  });

  test("a tint does not decide, what is behind it does", () => {
    expect(isDark(nested("black", "rgb(255 255 255 / 10%)"))).toBe(true);
    expect(isDark(nested("black", "rgb(255 255 255 / 90%)"))).toBe(false);
  });

  test("looks out of shadow roots", () => {
    const host = nested("black", "transparent");
    const inside = document.createElement("div");
    host.attachShadow({ mode: "open" }).append(inside);
    expect(isDark(inside)).toBe(true);
    const within = document.createElement("div");
    inside.attachShadow({ mode: "open" }).append(within);
    expect(isDark(within)).toBe(true);
  });

  test("a page without any background is light", () => {
    expect(isDark(nested("transparent"))).toBe(false);
  });

  test("without any background, light text says that what is behind is dark", () => {
    const inner = nested("transparent");
    inner.style.color = "#e8eaed";
    const host = document.createElement("div");
    // Like the view's own element, it inherits no colour.
    host.style.color = "black";
    inner.append(host);
    expect(isDark(host)).toBe(true);
    inner.style.color = "#444";
    expect(isDark(host)).toBe(false);
    inner.style.color = "#e8eaed";
    document.body.style.background = "#fff";
    expect(isDark(host)).toBe(false);
  });

  test("the background of the page counts", () => {
    document.documentElement.style.background = "#111";
    expect(isDark(nested("transparent"))).toBe(true);
    document.body.style.background = "#eee";
    expect(isDark(nested("transparent"))).toBe(false);
  });
});

describe("watchSurroundings", () => {
  function watched() {
    const controller = new AbortController();
    const seen = { changes: 0 };
    watchSurroundings(() => {
      seen.changes += 1;
    }, controller.signal);
    return { controller, seen };
  }

  test.for(["documentElement", "body"] as const)(
    "hears of attributes of document.%s, and nothing after an abort",
    async (name) => {
      const { controller, seen } = watched();
      document[name].setAttribute("data-look", "dark");
      await twoFrames();
      expect(seen.changes).toBe(1);
      controller.abort();
      document[name].setAttribute("data-look", "light");
      await twoFrames();
      expect(seen.changes).toBe(1);
    },
  );
});
