/** The numbers of the head view are the record's, and its pixels are those numbers. */

import { describe, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { goTo } from "../../src/state.ts";
import { headColor, rgb } from "../../src/theme.ts";
import { parts } from "../locators.ts";
import { type App, drawn, find, mountApp, painted, pixel } from "../mounted.ts";
import { LABELS, NAMES, scoreAt, signed, strongest, weightAt } from "../numbers.ts";
import { twoFrames } from "../place.ts";
import { expectNoProblems } from "../problems.ts";

expectNoProblems();

const { option, status, labels, filter } = parts();
/** Of layer 0, 1 and 2. */
const HEADS = [4, 2, 10].map((count) => Array.from({ length: count }, (_, head) => head));
const legend = (app: App) => find(app, ".about").textContent;

describe("the status line", () => {
  test.for([0, 1, 2])(
    "names what a query attends to most, and in which head, layer %i",
    async (layer) => {
      await mountApp({ choices: { layer } });
      for (const query of [8, 2, 5]) {
        await userEvent.hover(option("Queries", query));
        const expected = strongest(HEADS[layer], (head, key) => weightAt(layer, head, query, key));
        await expect.poll(status).toBe(`Layer ${layer}  ${NAMES[query]} → ${expected}`);
      }
    },
  );

  test.for([0, 1, 2])(
    "names who attends to a key most, and in which head, layer %i",
    async (layer) => {
      await mountApp({ choices: { layer } });
      for (const key of [3, 6]) {
        await userEvent.hover(option("Keys", key));
        const expected = strongest(HEADS[layer], (head, query) =>
          weightAt(layer, head, query, key),
        );
        await expect.poll(status).toBe(`Layer ${layer}  ${NAMES[key]} ← ${expected}`);
      }
    },
  );

  test("is of the heads that are drawn", async () => {
    const { state } = await mountApp({ choices: { query: 1, heads: [2] } });
    const expected = (...heads: number[]) =>
      strongest(heads, (head, key) => weightAt(0, head, 1, key));
    await expect.poll(status).toContain(`Layer 0 · Head 2  ${NAMES[1]} → ${expected(2)}`);
    state.heads.value = [0, 3];
    await expect.poll(status).toContain(`Layer 0  ${NAMES[1]} → ${expected(0, 3)}`);
  });

  test("reads from left to right, whichever way its tokens are written", async () => {
    const app = await mountApp({ choices: { key: 5, heads: [0] } });
    await expect.poll(status).toContain(`${NAMES[5]} ← `);
    const lefts = [...find(app, ".status").childNodes].map((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return range.getBoundingClientRect().left;
    });
    expect(lefts).toEqual([...lefts].sort((a, b) => a - b));
  });

  test("says how to let go of what is locked, and how to begin", async () => {
    const { state } = await mountApp({ choices: { query: 1 } });
    await expect.poll(status).toContain("Esc releases");
    state.query.value = null;
    await expect.poll(status).toBe("Point at a token to see its attention; click to keep it.");
  });
});

describe("the matrix", () => {
  /** Middles of some cells, in parts of the picture; the labels are above it. */
  const PLACES = [
    [0.2, 0.5],
    [0.9, 0.6],
    [0.5, 0.95],
    [0.06, 0.7],
  ];

  test.for([
    { layer: 0, head: 1 },
    { layer: 1, head: 0 },
    { layer: 2, head: 7 },
  ])("shows weight, score and ink of the cell under the pointer, $layer.$head", async (given) => {
    const { layer, head } = given;
    const app = await mountApp({ choices: { layer, head } });
    await drawn(app);
    const picture = find<HTMLCanvasElement>(app, ".matrix canvas");
    const { width, height } = picture.getBoundingClientRect();
    for (const [x, y] of PLACES.map(([right, down]) => [right * width, down * height])) {
      await userEvent.hover(find(app, ".stage"), { position: { x, y } });
      const { query, key } = app.state.focus.value;
      if (query === null || key === null) throw new Error("The pointer is on no cell.");
      const [weight, score] = [weightAt(layer, head, query, key), scoreAt(layer, head, query, key)];
      const shown = weight > 0 && weight < 0.0005 ? "<0.001" : weight.toFixed(3);
      const pair = `Layer ${layer} · Head ${head}  ${NAMES[query]} → ${NAMES[key]}`;
      if (layer === 1) expect(status()).toBe(`${pair} weight ${shown}`);
      else if (score === null) expect(status()).toContain(`${pair} masked`);
      else expect(status()).toBe(`${pair} weight ${shown} · score ${signed(score)}`);
      // The square root, so that small weights can be seen.
      expect(Math.abs(pixel(picture, x, y)[3] - 255 * Math.sqrt(weight))).toBeLessThanOrEqual(1);
    }
  });

  test("follows the head", async () => {
    const app = await mountApp();
    await drawn(app);
    const picture = find<HTMLCanvasElement>(app, ".matrix canvas");
    const image = () => picture.toDataURL();
    const first = image();
    app.state.head.value = 1;
    expect(image()).not.toBe(first);
    app.state.head.value = 0;
    expect(image()).toBe(first);
  });

  test("locks a pair by click, and releases it by another", async () => {
    const app = await mountApp();
    await drawn(app);
    const stage = find(app, ".stage");
    const { width, height } = stage.getBoundingClientRect();
    await userEvent.click(stage, { position: { x: width / 2, y: 0.95 * height } });
    expect([app.state.query.value, app.state.key.value]).toEqual([8, 4]);
    await userEvent.click(stage, { position: { x: width / 2, y: 0.95 * height } });
    expect([app.state.query.value, app.state.key.value]).toEqual([null, null]);
  });

  test("leaves its place to the lines where the view is narrow", async () => {
    const app = await mountApp({ width: 700 });
    await drawn(app);
    expect(app.shadow.querySelector(".matrix")).toBeNull();
    app.parent.style.width = "1100px";
    await vi.waitFor(() => expect(app.shadow.querySelector(".matrix")).not.toBeNull());
  });
});

describe("the lines", () => {
  /** The colour at either end of the lines of a token, in the middle of its row. */
  function ends(canvas: HTMLCanvasElement, at: number): number[][] {
    const { width, height } = canvas.getBoundingClientRect();
    const y = ((at + 0.5) * height) / LABELS.length;
    return [0, width - 1].map((x) => pixel(canvas, x, y));
  }

  test("begin and end at their tokens, in the colour of their head", async () => {
    // Where each query has one key of its own, a token's ends are that one line's.
    const app = await mountApp({ choices: { heads: [2] } });
    await drawn(app);
    const canvas = find<HTMLCanvasElement>(app, "canvas.base");
    const [left] = ends(canvas, 3);
    const color = rgb(headColor(2));
    left.slice(0, 3).forEach((value, n) => {
      expect(Math.abs(value - color[n])).toBeLessThanOrEqual(3);
    });
  });

  test("of several heads are as opaque as the strongest, in its colour above all", async () => {
    const app = await mountApp({ choices: { heads: [0] } });
    await drawn(app);
    const canvas = find<HTMLCanvasElement>(app, "canvas.base");
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    // All lines of a query coincide at its end; for this one they stay less than opaque.
    const one = sum(LABELS.map((_, key) => weightAt(0, 0, 8, key)));
    const unit = ends(canvas, 8)[0][3] / one;
    app.state.heads.value = [0, 3];
    await twoFrames();
    const [left] = ends(canvas, 8);
    const [a, b] = [rgb(headColor(0)), rgb(headColor(3))];
    const pairs = LABELS.map((_, key) => [weightAt(0, 0, 8, key), weightAt(0, 3, 8, key)]);
    const most = sum(pairs.map((pair) => Math.max(...pair)));
    expect(Math.abs(left[3] - unit * most)).toBeLessThanOrEqual(2);
    for (const part of [0, 1, 2]) {
      const colors = pairs.map(
        ([v, w]) => (v ** 3 * a[part] + w ** 3 * b[part]) / (v ** 3 + w ** 3),
      );
      const mean = sum(pairs.map((pair, n) => Math.max(...pair) * colors[n])) / most;
      expect(Math.abs(left[part] - mean)).toBeLessThanOrEqual(2);
    }
  });

  test("carry to every key what it gets, and from every query what it gives", async () => {
    const app = await mountApp({ choices: { heads: [0] } });
    await drawn(app);
    const canvas = find<HTMLCanvasElement>(app, "canvas.base");
    // Fainter ones are left out, as the legend says.
    const line = (query: number, key: number) => {
      const weight = weightAt(0, 0, query, key);
      return weight < 0.0005 ? 0 : weight;
    };
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    const given = LABELS.map((_, query) => sum(LABELS.map((_label, key) => line(query, key))));
    const got = LABELS.map((_, key) => sum(LABELS.map((_label, query) => line(query, key))));
    const unit = ends(canvas, 0)[0][3] / given[0];
    LABELS.forEach((_, at) => {
      const [from, to] = ends(canvas, at).map(([, , , opacity]) => opacity);
      expect(Math.abs(from - unit * given[at])).toBeLessThanOrEqual(2);
      expect(Math.abs(to - Math.min(255, unit * got[at]))).toBeLessThanOrEqual(2);
    });
  });

  test("follow the heads that are drawn", async () => {
    const app = await mountApp();
    await drawn(app);
    const canvas = find<HTMLCanvasElement>(app, "canvas.base");
    const first = canvas.toDataURL();
    app.state.heads.value = [3];
    await vi.waitFor(() => expect(canvas.toDataURL()).not.toBe(first));
    app.state.heads.value = null;
    await vi.waitFor(() => expect(canvas.toDataURL()).toBe(first));
  });

  test("of the token looked at lie on top, with a strip of weights at the far end", async () => {
    const app = await mountApp({ choices: { heads: [1] } });
    await drawn(app);
    const overlay = find<HTMLCanvasElement>(app, ".lines canvas.overlay");
    expect(painted(overlay)).toBe(0);
    const { width, height } = overlay.getBoundingClientRect();
    const row = height / LABELS.length;
    /** Whether the opacities down a strip at x are these weights, on an even ground. */
    const expectStrip = (x: number, weights: number[]) => {
      const shown = weights.map((_, at) => pixel(overlay, x, (at + 0.25) * row)[3] / 255);
      const [least, most] = [Math.min(...weights), Math.max(...weights)].map((w) =>
        weights.indexOf(w),
      );
      const slope = (shown[most] - shown[least]) / (weights[most] - weights[least]);
      expect(slope).toBeGreaterThan(0.9);
      weights.forEach((weight, at) => {
        const expected = shown[least] + slope * (weight - weights[least]);
        expect(Math.abs(shown[at] - expected)).toBeLessThan(0.01);
      });
    };
    app.state.hover.value = { query: 4, key: null };
    expectStrip(
      width - 2,
      LABELS.map((_, key) => weightAt(0, 1, 4, key)),
    );
    app.state.hover.value = { query: null, key: 4 };
    expectStrip(
      2,
      LABELS.map((_, query) => weightAt(0, 1, query, 4)),
    );
    app.state.hover.value = null;
    expect(painted(overlay)).toBe(0);
  });
});

describe("the legend", () => {
  test("says how much of the attention is drawn, rounded down", async () => {
    const app = await mountApp({ choices: { heads: [2] } });
    const weights = LABELS.flatMap((_, query) =>
      LABELS.map((_, key) => weightAt(0, 2, query, key)),
    );
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    const share = (100 * sum(weights.filter((weight) => weight >= 0.0005))) / sum(weights);
    expect(share).toBeLessThan(100);
    const shown = `${Math.floor(10 * share) / 10}% of attention shown`;
    await expect.poll(() => legend(app)).toContain(shown);
    // Nothing in layer 1 is that faint.
    goTo(app.state, { layer: 1 });
    await expect.poll(() => legend(app)).toContain("kept as weights");
    expect(legend(app)).not.toContain("of attention shown");
  });

  test("names the model, the tokens, layers and heads", async () => {
    const app = await mountApp();
    await drawn(app);
    expect(legend(app)).toContain("tiny · 9 tokens · 3 layers × 2–10 heads");
  });
});

describe("a text pair", () => {
  test("shows the tokens of the parts chosen, and their numbers stay their own", async () => {
    const app = await mountApp();
    await userEvent.selectOptions(filter, "A → B");
    await expect.poll(() => labels("Queries")).toEqual(LABELS.slice(0, 5));
    expect(labels("Keys")).toEqual(LABELS.slice(5));
    await drawn(app);
    // What the queries of A attend to outside of B is not shown.
    const weights = [0, 1, 2, 3, 4].flatMap((query) =>
      [5, 6, 7, 8].flatMap((key) => [0, 1, 2, 3].map((head) => weightAt(0, head, query, key))),
    );
    const share = (100 * weights.reduce((sum, weight) => sum + weight, 0)) / (5 * 4);
    const shown = `${Math.floor(10 * share) / 10}% of attention shown`;
    await expect.poll(() => legend(app)).toContain(shown);
    await userEvent.hover(option("Keys", 1));
    expect(app.state.focus.value).toEqual({ query: null, key: 6 });
    const weightOf = (head: number, query: number) => weightAt(0, head, query, 6);
    const expected = strongest(HEADS[0], weightOf, [0, 1, 2, 3, 4]);
    expect(status()).toContain(`${NAMES[6]} ← ${expected}`);
  });
});
