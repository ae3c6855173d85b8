/** A long text in the head view: a part of its labels, and the lines of all of it. */

import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { Side } from "../../../src/state/state.ts";
import { eventually } from "../../support/eventually.ts";
import { LINKS, mountLong } from "../../support/long.ts";
import { type App, drawn, find, mountApp } from "../../support/mounted.ts";
import { twoFrames } from "../../support/place.ts";
import { expectNoProblems } from "../../support/problems.ts";

expectNoProblems();

const column = (name: "Queries" | "Keys") => page.getByRole("listbox", { name, exact: true });

/** The tokens of a column that can be read. */
function inSight(app: App, side: Side): readonly string[] {
  const window = find(app, `.window:has(.${side})`).getBoundingClientRect();
  return [...app.shadow.querySelectorAll(`.tokens.${side} [role=option]`)]
    .filter((row) => {
      const { left, right, top, bottom } = row.getBoundingClientRect();
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      return x > window.left && x < window.right && y > window.top && y < window.bottom;
    })
    .map((row) => row.textContent ?? "");
}

async function scroll(app: App, side: Side, to: number): Promise<void> {
  find(app, `.window:has(.${side})`).scrollTop = to;
  await twoFrames();
}

/** Position of a part of the text on the strip of a side, 0 to 1. */
function onStrip(app: App, side: Side, part: number) {
  const strip = find(app, `.minimap.${side} .strip`);
  const { width, height } = strip.getBoundingClientRect();
  const position =
    height > width ? { x: width / 2, y: part * height } : { x: part * width, y: height / 2 };
  return { strip, position };
}

async function shown(tokens?: number, options?: Parameters<typeof mountLong>[1]): Promise<App> {
  const app = await mountLong(tokens, options);
  await expect.element(column("Queries")).toBeVisible();
  return app;
}

describe("the columns", () => {
  test("have as many elements for a longer text", async () => {
    const count = (app: App) => app.shadow.querySelectorAll("*").length;
    const app = await shown(400);
    const before = count(app);
    app.unmount();
    expect(count(await shown(900))).toBe(before);
  });

  test("of a short text are whole, beside their lines", async () => {
    const app = await mountApp();
    await drawn(app);
    expect(app.shadow.querySelector(".minimap, .window")).toBeNull();
  });

  test("are whole where only the other one is long", async () => {
    const app = await shown(102);
    expect(app.shadow.querySelectorAll(".minimap").length).toBe(0);
    app.unmount();
    expect((await shown(103)).shadow.querySelectorAll(".minimap").length).toBe(2);
  });

  test.for([480, 560, 620, 640, 680, 760, 1100])("fit into a view %i px wide", async (width) => {
    const app = await mountLong(400, { width }, (at) => `a long label for token ${at}`);
    await drawn(app);
    const { scrollWidth, clientWidth } = find(app, ".pairs");
    expect(scrollWidth).toBe(clientWidth);
  });

  test("say which tokens they name, and what the strips are", async () => {
    const app = await shown();
    const said = () => find(app, ".title:has(+ .pairs)").textContent;
    expect(said()).toBe(
      "Tokens 0–39 of 400 are named. The strips are the whole text: drag to move.",
    );
    app.state.key.value = 5;
    await scroll(app, "query", 1800);
    expect(said()).toMatch(/^Queries 100–139 of 400 are named, keys 0–39 of 400 are named/);
  });

  test("scroll together, but for one that has what is locked", async () => {
    const app = await shown();
    await scroll(app, "query", 1800);
    expect(inSight(app, "query")[0]).toBe("t100");
    expect(inSight(app, "key")[0]).toBe("t100");
    await userEvent.click(column("Queries").getByRole("option", { name: "t105" }));
    await scroll(app, "key", 3600);
    expect(inSight(app, "query")[0]).toBe("t100");
    expect(inSight(app, "key")[0]).toBe("t200");
  });

  test("begin where they were, in the next layer and lying", async () => {
    const app = await shown();
    await scroll(app, "query", 1800);
    app.state.layer.value = 1;
    await twoFrames();
    expect(inSight(app, "query")[0]).toBe("t100");
    app.state.orientation.value = "horizontal";
    await twoFrames();
    expect(inSight(app, "query")[0]).toBe("t100");
    expect(inSight(app, "key")[0]).toBe("t100");
  });

  test("begin with what is locked in sight", async () => {
    const app = await shown(400, { choices: { query: 350 } });
    await twoFrames();
    expect(inSight(app, "query")).toContain("t350");
    expect(inSight(app, "key")).toContain("t0");
  });

  test("follow the keyboard", async () => {
    const app = await shown();
    const list = column("Queries").element() as HTMLElement;
    list.focus();
    for (const [key, token] of [
      ["{End}", "t399"],
      ["{PageUp}", "t379"],
      ["{ArrowUp}", "t378"],
      ["{Home}", "t0"],
    ] as const) {
      await userEvent.keyboard(key);
      await twoFrames();
      expect(inSight(app, "query")).toContain(token);
      const active = list.getAttribute("aria-activedescendant");
      expect(app.shadow.getElementById(active ?? "")?.textContent).toBe(token);
      expect(app.root.querySelector(".status")?.textContent).toContain(`${token} →`);
    }
  });

  test("follow the find box", async () => {
    const app = await shown();
    await userEvent.type(page.getByRole("searchbox"), "t39");
    await userEvent.keyboard("{Enter}{Enter}");
    await twoFrames();
    expect(app.state.hover.value?.query).toBe(391);
    expect(inSight(app, "query")).toContain("t391");
  });
});

describe("the strip of the whole", () => {
  test("looks where it is pointed at, and leaves the labels where they are", async () => {
    const app = await shown();
    const { strip, position } = onStrip(app, "query", 200.5 / 400);
    await userEvent.hover(strip, { position });
    expect(app.state.hover.value).toEqual({ query: 200, key: null });
    expect(inSight(app, "query")[0]).toBe("t0");
  });

  test("goes where it is pressed, with the token at the height of the pointer", async () => {
    const app = await shown();
    const { strip, position } = onStrip(app, "query", 200.5 / 400);
    // A copy, because it is scaled with the frame that tests run in.
    await userEvent.click(strip, { position: { ...position } });
    await twoFrames();
    const row = app.shadow.querySelector(`[id^=query-][id$="-200"]`)?.getBoundingClientRect();
    const y = strip.getBoundingClientRect().top + position.y;
    expect(row?.top).toBeLessThanOrEqual(y);
    expect(row?.bottom).toBeGreaterThanOrEqual(y);
    expect(inSight(app, "key")).toContain("t200");
  });

  test("says what a locked query gives to the strongest key that is near", async () => {
    const [[query, key, weight]] = LINKS;
    const app = await shown(400, { choices: { query } });
    // Within two pixels of the key itself.
    const { strip, position } = onStrip(app, "key", (key + 1) / 400);
    await userEvent.hover(strip, { position });
    expect(app.state.hover.value).toEqual({ query, key });
    expect(app.root.querySelector(".status")?.textContent).toContain(
      `t${query} → t${key} weight ${weight.toFixed(3)}`,
    );
  });

  test("is there lying, too", async () => {
    const app = await shown(400, { choices: { orientation: "horizontal" } });
    const { strip, position } = onStrip(app, "key", 100.5 / 400);
    await userEvent.click(strip, { position });
    await twoFrames();
    expect(app.state.hover.value).toEqual({ query: null, key: 100 });
    expect(inSight(app, "key")).toContain("t100");
  });
});

describe("the strongest links", () => {
  const said = () => page.getByRole("group", { name: "Strongest links" }).element().textContent;

  test("come one after the other, each with both tokens in sight", async () => {
    const app = await shown();
    app.root.focus();
    for (const [query, key] of LINKS) {
      await userEvent.keyboard("j");
      await eventually(() =>
        expect([app.state.query.value, app.state.key.value]).toEqual([query, key]),
      );
      await twoFrames();
      expect(inSight(app, "query")).toContain(`t${query}`);
      expect(inSight(app, "key")).toContain(`t${key}`);
    }
    expect(said()).toContain("3 of 3");
    await userEvent.keyboard("J");
    expect(app.state.query.value).toBe(LINKS[1][0]);
    await userEvent.click(page.getByRole("button", { name: "Next link" }));
    await userEvent.click(page.getByRole("button", { name: "Next link" }));
    expect(app.state.query.value).toBe(LINKS[0][0]);
  });

  test("are of the matrix that is shown, and may be none", async () => {
    const app = await shown();
    app.root.focus();
    await userEvent.keyboard("j");
    await eventually(() => expect(said()).toContain("1 of 3"));
    // Its tokens attend to themselves and to the first alone.
    app.state.head.value = 1;
    await userEvent.keyboard("j");
    await eventually(() => expect(said()).toContain("none"));
    expect(app.state.query.value).toBe(LINKS[0][0]);
  });
});

test("a pointer that rests on a token of a strip changes nothing", async () => {
  const app = await shown();
  const { strip, position } = onStrip(app, "key", 0.5);
  const { left, top } = strip.getBoundingClientRect();
  const at = { clientX: left + position.x, clientY: top + position.y };
  const seen: unknown[] = [];
  app.state.hover.subscribe((place) => seen.push(place));
  for (let n = 0; n < 3; n++) strip.dispatchEvent(new PointerEvent("pointermove", at));
  expect(seen).toEqual([null, { query: null, key: 200 }]);
});

test("to look at a token takes as much drawing for a longer text", async () => {
  const stroke = vi.spyOn(CanvasRenderingContext2D.prototype, "stroke");
  const fill = vi.spyOn(CanvasRenderingContext2D.prototype, "fillRect");
  for (const tokens of [400, 900]) {
    const app = await shown(tokens);
    await twoFrames();
    stroke.mockClear();
    fill.mockClear();
    app.state.hover.value = { query: 30, key: null };
    expect(stroke.mock.calls.length + fill.mock.calls.length).toBeLessThan(200);
    app.unmount();
  }
  stroke.mockRestore();
  fill.mockRestore();
});
