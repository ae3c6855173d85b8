/** A view fits into the place that a host gives it: its size, its colours, its screen. */

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type App, drawn, find, mountApp, painted } from "../support/mounted.ts";
import { twoFrames } from "../support/place.ts";
import { expectNoProblems, RESIZE_LOOP } from "../support/problems.ts";

expectNoProblems();

describe("the theme", () => {
  const theme = ({ root }: App) => root.dataset.theme;

  test("follows what is behind the view", async () => {
    const app = await mountApp();
    // Its size is known by now, so that nothing but the host's switch can make it look again.
    await drawn(app);
    expect(theme(app)).toBe("light");
    app.parent.style.background = "#111";
    // Hosts change an attribute of the page when they switch.
    document.body.setAttribute("data-look", "dark");
    onTestFinished(() => document.body.removeAttribute("data-look"));
    await expect.poll(() => theme(app)).toBe("dark");
  });

  test("is the one chosen, whatever is behind", async () => {
    const app = await mountApp({ choices: { theme: "dark" } });
    await drawn(app);
    expect(theme(app)).toBe("dark");
    const background = () => getComputedStyle(app.root).backgroundColor;
    const dark = background();
    app.state.theme.value = "light";
    expect(theme(app)).toBe("light");
    expect(background()).not.toBe(dark);
  });
});

describe("the size", () => {
  test.for(["head", "model", "neuron"] as const)(
    "of the %s view keeps its header and its status line in sight",
    async (view) => {
      const room = 420;
      // The test runs in a frame, whose own height says nothing.
      const height = screen.availHeight - 140 - room;
      const app = await mountApp({ choices: { view }, around: { height, alone: false } });
      await expect.poll(() => app.root.offsetHeight).toBe(room);
      expect(find(app, ".body").scrollHeight).toBeGreaterThan(find(app, ".body").clientHeight);
      expect(app.root.scrollHeight).toBe(app.root.clientHeight);
    },
  );

  test.for(["head", "model", "neuron"] as const)(
    "of the %s view follows its place",
    async (view) => {
      const app = await mountApp({ choices: { view }, width: 1100 });
      const canvas = () => app.shadow.querySelector<HTMLCanvasElement>(".body canvas");
      await expect.poll(() => canvas()?.getBoundingClientRect().width ?? 0).toBeGreaterThan(10);
      for (const width of [560, 1000]) {
        app.parent.style.width = `${width}px`;
        const body = find(app, ".body");
        await expect
          .poll(() => [app.root.getBoundingClientRect().width, body.scrollWidth - body.clientWidth])
          .toEqual([width, 0]);
      }
    },
  );

  test("of nothing waits: a host may show the view later", async () => {
    const app = await mountApp({ width: 0 });
    await twoFrames();
    expect(app.shadow.querySelector("canvas")).toBeNull();
    app.parent.style.width = "900px";
    await drawn(app);
  });

  test("is found without the browser's complaint about resize loops", async () => {
    const complaints: string[] = [];
    const hear = (event: ErrorEvent) => complaints.push(event.message);
    addEventListener("error", hear);
    onTestFinished(() => removeEventListener("error", hear));
    const app = await mountApp();
    await drawn(app);
    await twoFrames();
    expect(complaints.filter((message) => message.includes(RESIZE_LOOP))).toEqual([]);
  });
});

test("a sharper screen gets sharper pictures, however often it changes", async () => {
  // A browser under test has one screen, so the test says when it is another.
  const real = window.matchMedia.bind(window);
  const screens: EventTarget[] = [];
  vi.spyOn(window, "matchMedia").mockImplementation((query) => {
    if (!query.includes("resolution")) return real(query);
    screens.push(new EventTarget());
    return screens.at(-1) as MediaQueryList;
  });
  const own = Object.getOwnPropertyDescriptor(window, "devicePixelRatio") as PropertyDescriptor;
  onTestFinished(() => {
    vi.restoreAllMocks();
    Object.defineProperty(window, "devicePixelRatio", own);
  });
  const app = await mountApp();
  await drawn(app);
  const canvas = () => find<HTMLCanvasElement>(app, ".matrix canvas");
  const { width } = canvas();
  for (const ratio of [2, 3]) {
    Object.defineProperty(window, "devicePixelRatio", { value: ratio, configurable: true });
    screens.at(-1)?.dispatchEvent(new Event("change"));
    await expect.poll(() => canvas().width / width).toBeCloseTo(ratio, 1);
    expect(painted(canvas())).toBeGreaterThan(0);
  }
});
