/** A saved figure is what is shown, with words around it, and without what is there to be clicked. */

import { expect, onTestFinished, test, vi } from "vitest";
import { palette } from "../../src/styles/palette.ts";
import { eventually } from "../support/eventually.ts";
import { mountLong } from "../support/long.ts";
import { type App, type AppOptions, drawn, find, mountApp } from "../support/mounted.ts";
import { twoFrames } from "../support/place.ts";
import { saved } from "../support/saved.ts";

async function mounted(options: AppOptions): Promise<App> {
  const app = await mountApp(options);
  if (options.choices?.view === undefined) await drawn(app);
  return app;
}

const textsOf = (svg: Element) => [...svg.querySelectorAll("text")].map((text) => text.textContent);
const paperOf = (svg: Element) => svg.querySelector("rect")?.getAttribute("fill");

test("every word of the view is there, but not those of buttons", async () => {
  const app = await mounted({ choices: { query: 2, layer: 1 } });
  const texts = textsOf(await saved(app));
  for (const label of app.shadow.querySelectorAll("[role=option], .title strong")) {
    expect(texts).toContain(label.textContent);
  }
  for (const head of app.shadow.querySelectorAll("[aria-pressed][aria-label^=Head]")) {
    expect(texts).toContain(head.textContent);
  }
  expect(texts).toContain("Layer 1");
  expect(texts).not.toContain("All");
  const said = texts.join("");
  expect(said).toContain(find(app, ".about").textContent);
  expect(said).not.toContain("Esc releases");
});

test("labels stand where they do on the screen, as bold and as strong", async () => {
  const app = await mounted({ choices: { query: 2 } });
  const svg = await saved(app);
  const options = [...app.shadow.querySelectorAll<HTMLElement>(".query [role=option] span")];
  // Some labels are there more than once.
  const texts = [...svg.querySelectorAll("text")];
  const labels = options.map((option) => {
    const at = texts.findIndex(({ textContent }) => textContent === option.textContent);
    return { option, text: texts.splice(0, at + 1)[at] };
  });
  const offsets = labels.map(({ option, text }) => {
    const { top, left, right } = option.getBoundingClientRect();
    // A label is placed by the side that it stands nearest to, which depends on the page's width.
    const leftward = text.getAttribute("direction") === "rtl" ? "end" : "start";
    const x = (text.getAttribute("text-anchor") ?? "start") === leftward ? left : right;
    return [x - Number(text.getAttribute("x")), top - Number(text.getAttribute("y"))];
  });
  // The scene moves as a whole, but nothing in it does.
  for (const [x, y] of offsets) {
    expect(x).toBeCloseTo(offsets[0][0], 1);
    expect(y).toBeCloseTo(offsets[0][1], 1);
  }
  const bold = labels.filter(({ text }) => text.getAttribute("font-weight") === "600");
  expect(bold.map(({ option }) => option)).toEqual([options[2]]);
  const inks = labels.map(({ text }) => ["fill", "opacity"].map((name) => text.getAttribute(name)));
  expect(inks[2]).toEqual([palette(false).text, null]);
  expect(inks[3]).not.toEqual(inks[2]);
});

test("nothing of the view stays changed", async () => {
  const app = await mounted({ choices: { view: "model", opened: true } });
  const body = find(app, ".body");
  await eventually(() => expect(app.shadow.querySelector("canvas.base")).not.toBeNull());
  await twoFrames(); // until the view has the size that it keeps
  body.scrollTop = 40;
  const before = [body.scrollTop, app.root.outerHTML];
  await saved(app);
  const after = [body.scrollTop, app.root.outerHTML.replace(/Saved as [^<"]*/g, "")];
  expect(after[0]).toBe(before[0]);
  expect(app.root.className).toBe("root");
  expect(body.getAttribute("style") ?? "").toBe("");
  expect(app.shadow.querySelector(".figure-heading, .figure-caption")).toBeNull();
});

test("it is dark where the reader chose so, else made for white paper", async () => {
  document.body.style.background = "#111";
  onTestFinished(() => {
    document.body.style.background = "";
  });
  const app = await mounted({ choices: { theme: "auto" } });
  await eventually(() => expect(app.root.dataset.theme).toBe("dark"));
  expect(paperOf(await saved(app))).toBe(palette(false).background);
  expect(app.root.dataset.theme).toBe("dark");
  app.state.theme.value = "dark";
  vi.restoreAllMocks();
  const svg = await saved(app);
  expect(paperOf(svg)).toBe(palette(true).background);
});

test("of a long text, the tokens in sight are named, and the figure says which", async () => {
  const app = await mountLong(400, { choices: { query: 200 } });
  await drawn(app);
  const texts = textsOf(await saved(app));
  expect(texts).toContain("t200");
  expect(texts.filter((text) => /^t\d+$/.test(text ?? "")).length).toBeLessThan(200);
  expect(texts.join(" ")).toMatch(
    /queries \d+–\d+ of 400 are named, keys \d+–\d+ of 400 are named/,
  );
});
