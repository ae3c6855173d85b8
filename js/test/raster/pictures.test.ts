/** Pictures are the same wherever they are painted, and somebody always paints them. */

import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  type AttentionMatrix,
  combinedMatrix,
  storedMatrix,
  wordMatrix,
} from "../../src/data/attention-matrix.ts";
import type { LayerData } from "../../src/data/layer-data.ts";
import { compiled } from "../../src/kernels/compiled.ts";
import type { LinesJob } from "../../src/raster/lines-job.ts";
import { rasterize } from "../../src/raster/run.ts";
import { Client } from "../../src/raster/worker/client.ts";
import { useWorker } from "../../src/raster/worker/page-worker.ts";
import { eventually } from "../support/eventually.ts";
import { noise, noisyLayer } from "../support/layers.ts";
import { headMatrix } from "../support/lenses.ts";

const TOKENS = 240; // too many to be quick
const all = Array.from({ length: TOKENS }, (_, n) => n);
/** A number of words of two tokens each. */
const pairs = all.map((n) => [2 * n, 2 * n + 1]);

const real = () => new Worker(new URL("./worker-entry.ts", import.meta.url), { type: "module" });

let data: LayerData;
let twice: LayerData;
beforeAll(async () => {
  await compiled();
  data = noisyLayer(TOKENS, 3, 32);
  twice = noisyLayer(2 * TOKENS, 2, 32);
});
afterEach(() => useWorker(null));

/** A page with this worker, which ends with the test. */
function withWorker(start: () => Worker) {
  const started: Worker[] = [];
  const received = vi.fn();
  const client = new Client(() => {
    const worker = start();
    worker.addEventListener("message", received);
    started.push(worker);
    return worker;
  });
  useWorker(client);
  onTestFinished(() => {
    for (const worker of started) worker.terminate();
  });
  return { client, started, received };
}

function linesJob(height: number): LinesJob {
  const middles = Float32Array.from(all, (at) => ((at + 0.5) * height) / TOKENS);
  return {
    rows: all,
    columns: all,
    from: middles,
    to: middles,
    width: 60,
    height,
    inks: [
      [200, 40, 90],
      [10, 160, 70],
      [40, 60, 240],
    ],
    ratio: 1,
    faintest: 0.0005,
  };
}

const lines = (matrices: readonly AttentionMatrix[], job: LinesJob) =>
  new Promise<{ pixels: Uint8ClampedArray; share: number }>((resolve) => {
    const inks = job.inks.slice(0, matrices.length);
    rasterize("lines", matrices, { ...job, inks }, (pixels, share) => {
      if (share !== null) resolve({ pixels, share });
    });
  });

const painted = (matrix: AttentionMatrix) =>
  new Promise<Float32Array>((resolve) => {
    const job = { rows: all, columns: all, width: 90, height: 80 };
    rasterize("matrix", [matrix], job, (largest, done) => {
      if (done) resolve(largest);
    });
  });

const heads = () => [0, 1, 2].map((head) => headMatrix(data, head));
const numbers = noise(TOKENS * TOKENS, 9).map(Math.abs);

const MATRICES: readonly (readonly [string, () => AttentionMatrix])[] = [
  ["a head", () => headMatrix(data, 1)],
  ["the mean of heads", () => combinedMatrix("", heads(), "mean")],
  ["words", () => wordMatrix(headMatrix(twice, 1), { tokens: pairs }, { tokens: pairs })],
  ["a matrix", () => storedMatrix("", numbers, TOKENS)],
];

describe.for(MATRICES)("of %s", ([, make]) => {
  test("lines are the same from the worker", async () => {
    const matrix = make();
    for (const height of [TOKENS / 2, 3 * TOKENS]) {
      const here = await lines([matrix], linesJob(height));
      const { received } = withWorker(real);
      const there = await lines([matrix], linesJob(height));
      expect(received).toHaveBeenCalled();
      useWorker(null);
      expect(there.pixels).toEqual(here.pixels);
      expect(there.share).toBe(here.share);
      expect(here.pixels.some((value, n) => n % 4 === 3 && value > 9)).toBe(true);
    }
  });
});

test("a matrix is the same from the worker", async () => {
  const big = noisyLayer(TOKENS, 12, 128);
  const matrix = combinedMatrix(
    "",
    Array.from({ length: 12 }, (_, head) => headMatrix(big, head)),
    "max",
  );
  const here = await painted(matrix);
  const { received } = withWorker(real);
  expect(await painted(matrix)).toEqual(here);
  expect(received).toHaveBeenCalled();
});

test("what lines of long texts leave out is nothing", async () => {
  const { share } = await lines([headMatrix(data, 0)], linesJob(TOKENS));
  expect(share).toBeCloseTo(100, 6);
});

test("several pictures at once each come to their own", async () => {
  const matrices = [0, 1, 2].map((head) => headMatrix(data, head));
  const job = linesJob(TOKENS);
  const here: Uint8ClampedArray[] = [];
  for (const matrix of matrices) here.push((await lines([matrix], job)).pixels);
  withWorker(real);
  const there = await Promise.all(matrices.map((matrix) => lines([matrix], job)));
  there.forEach(({ pixels }, n) => {
    expect(pixels).toEqual(here[n]);
  });
});

test("more than the worker keeps, in turn", async () => {
  const { client, started } = withWorker(real);
  const sent = vi.spyOn(Worker.prototype, "postMessage");
  onTestFinished(() => sent.mockRestore());
  const ops = (op: string) => sent.mock.calls.filter(([message]) => message.op === op).length;
  // 20 MB each.
  const rows = 5 * 2 ** 20;
  const matrices = Array.from({ length: 3 }, () => {
    const values = new Float32Array(rows);
    values.set(noise(TOKENS * TOKENS));
    return storedMatrix("", values, TOKENS);
  });
  const [first, second, third] = matrices;
  for (const matrix of [first, second, first, third, first]) await lines([matrix], linesJob(60));
  expect([ops("keep"), ops("drop")]).toEqual([3, 1]);
  await lines([second], linesJob(60));
  expect([ops("keep"), ops("drop")]).toEqual([4, 2]);
  expect(started.length).toBe(1);
  expect(client.refused).toBe(false);
});

test("what the worker cannot begin, the page paints, and asks it again", async () => {
  const { client, received } = withWorker(real);
  const spec = { kind: "combined", name: "the mean of none", of: [], how: "mean" } as const;
  const broken: AttentionMatrix = { ...headMatrix(data, 0), spec };
  await lines([broken], linesJob(TOKENS));
  expect(received.mock.calls.length).toBe(1);
  await lines([headMatrix(data, 0)], linesJob(TOKENS));
  expect(received.mock.calls.length).toBeGreaterThan(1);
  expect(client.refused).toBe(false);
});

describe("without a worker", () => {
  const expected = () => lines([headMatrix(data, 1)], linesJob(TOKENS));

  test("that cannot be made, the page paints", async () => {
    const here = await expected();
    const { client } = withWorker(() => {
      throw new DOMException("refused", "SecurityError");
    });
    expect((await expected()).pixels).toEqual(here.pixels);
    expect(client.refused).toBe(true);
  });

  test("that fails after it was made, the page paints, and asks no more", async () => {
    const here = await expected();
    const { client, started } = withWorker(() => new Worker("data:text/javascript,throw 1"));
    expect((await expected()).pixels).toEqual(here.pixels);
    expect(client.refused).toBe(true);
    expect((await expected()).pixels).toEqual(here.pixels);
    expect(started.length).toBe(1);
  });

  test("a picture that was stopped in the meantime is not painted", async () => {
    const show = vi.fn();
    const { client } = withWorker(() => new Worker("data:text/javascript,throw 1"));
    const stop = rasterize(
      "lines",
      [headMatrix(data, 1)],
      { ...linesJob(TOKENS), inks: [[0, 0, 0]] },
      show,
    );
    stop();
    await eventually(() => expect(client.refused).toBe(true));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(show).not.toHaveBeenCalled();
  });
});

test.for([
  ["in the worker", real],
  ["on the page", () => new Worker("data:text/javascript,throw 1")],
] as const)("what is stopped %s shows nothing more, and the next one comes", async ([, start]) => {
  withWorker(start);
  const show = vi.fn();
  const job = { ...linesJob(3 * TOKENS), width: 600, inks: [[0, 0, 0]] as const };
  const stop = rasterize("lines", [headMatrix(data, 0)], job, show);
  await eventually(() => expect(show).toHaveBeenCalled(), { interval: 1 });
  stop();
  const times = show.mock.calls.length;
  await lines([headMatrix(data, 1)], linesJob(TOKENS));
  expect(show).toHaveBeenCalledTimes(times);
});

test("what the worker learns of rows makes columns ready", async () => {
  const layer = noisyLayer(TOKENS, 1, 256);
  const matrix = headMatrix(layer, 0);
  withWorker(real);
  await lines([matrix], linesJob(TOKENS));
  await eventually(() => expect(matrix.hasColumns()).toBe(true));
  const column = all.map((query) => matrix.row(query)[5]);
  expect([...matrix.column(5)]).toEqual(column);
});
