/** The pictures of a matrix: one of the whole, and a sharper one of the viewport. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import { largestOf, smallestOf } from "../../../basics/extremes.ts";
import type { AttentionMatrix } from "../../../data/attention-matrix.ts";
import { rasterize } from "../../../raster/run.ts";
import type { Scope } from "../../../scheduling/scope.ts";
import { columnsOf, rowsOf, type Span, type Viewport } from "./viewport.ts";

interface Wanted {
  readonly matrix: AttentionMatrix;
  readonly rows: Span;
  readonly columns: Span;
  /** Pixels per cell, at most 1. */
  readonly scale: number;
}

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** The largest weight in each pixel; of a difference, that of the largest magnitude. */
  readonly largest: Float32Array;
}

export interface Tile extends Wanted, Pixels {
  readonly done: boolean;
}

export type Tiles = ReturnType<typeof matrixTiles>;

/** The share of the viewport that is drawn beyond each edge, for small moves. */
const AROUND = 0.25;

/** The delay before a new viewport is drawn; until then the existing picture is scaled. */
const SETTLED_MS = 60;

/** @param least the side of a cell in screen pixels when the whole matrix is shown */
export function matrixTiles(
  scope: Scope,
  matrix: ReadonlySignal<AttentionMatrix>,
  rows: readonly number[],
  columns: readonly number[],
  viewport: ReadonlySignal<Viewport>,
  least: number,
) {
  const whole = signal<Tile | null>(null);
  /** The viewport and its surroundings; null until it is needed. */
  const sharp = signal<Tile | null>(null);
  const all = {
    rows: { first: 0, end: rows.length },
    columns: { first: 0, end: columns.length },
  };
  const finest = ({ overview }: AttentionMatrix) =>
    overview
      ? Math.min(overview.columns / columns.length, overview.rows / rows.length)
      : Math.min(1, least);

  const next = computed((): [Wanted, Signal<Tile | null>] | null => {
    const current = matrix.value;
    const needed = viewportTile(viewport.value, current);
    if (needed && !covers(sharp.value, needed)) return [needed, sharp];
    const isDone = whole.value?.matrix === current && whole.value.done;
    return isDone ? null : [{ matrix: current, ...all, scale: finest(current) }, whole];
  });

  /** Null if the picture of the whole has every detail: a pixel per cell, or an overview. */
  function viewportTile(shown: Viewport, of: AttentionMatrix): Wanted | null {
    if (shown.isWhole || of.overview || finest(of) >= 1) return null;
    const scale = Math.min(1, shown.cell * devicePixelRatio);
    return { matrix: of, rows: rowsOf(shown), columns: columnsOf(shown), scale };
  }

  let running: { readonly wanted: Wanted; stop(): void } | null = null;
  scope.effect(() => {
    const job = next.value;
    // The running job may cover this viewport, too.
    if (job && running && covers(running.wanted, job[0])) return;
    running?.stop();
    running = job && start(...job);
  });

  function start(needed: Wanted, into: Signal<Tile | null>) {
    if (into === whole) return { wanted: needed, stop: draw(needed, into) };
    const [down, across] = [around(needed.rows, rows), around(needed.columns, columns)];
    const wanted = { ...needed, rows: down, columns: across };
    let stop = () => clearTimeout(timer);
    const timer = window.setTimeout(() => {
      stop = draw(wanted, into);
    }, SETTLED_MS);
    return { wanted, stop: () => stop() };
  }

  function draw(wanted: Wanted, into: Signal<Tile | null>): () => void {
    const { overview } = wanted.matrix;
    if (overview) {
      const { columns: width, rows: height, values: largest } = overview;
      into.value = { ...wanted, width, height, largest, done: true };
      return () => {};
    }
    const job = {
      rows: rows.slice(wanted.rows.first, wanted.rows.end),
      columns: columns.slice(wanted.columns.first, wanted.columns.end),
      width: Math.ceil(lengthOf(wanted.columns) * wanted.scale),
      height: Math.ceil(lengthOf(wanted.rows) * wanted.scale),
    };
    return rasterize("matrix", [wanted.matrix], job, (largest, done) => {
      // An incomplete picture would hide the one of the whole.
      if (!done && into === sharp) return;
      if (done) running = null;
      into.value = { ...wanted, width: job.width, height: job.height, largest, done };
    });
  }

  /** Pixels per cell in the best picture of the viewport so far. */
  const scale = computed(() => {
    const needed = viewportTile(viewport.value, matrix.value);
    return needed && sharp.value && covers(sharp.value, needed)
      ? sharp.value.scale
      : finest(matrix.value);
  });

  /** The largest magnitude of the whole matrix, which has the full shade. */
  const peak = computed(() => {
    const { largest } = whole.value ?? {};
    return (largest && Math.max(largestOf(largest), -smallestOf(largest))) || 1;
  });

  scope.onEnd(() => running?.stop());

  return { whole, sharp, scale, peak };
}

/** Pool pixels, each the largest of those that it replaces. */
export function pooled(of: Pixels, width: number, height: number): Pixels {
  const [across, down] = [Math.min(width, of.width), Math.min(height, of.height)];
  const largest = new Float32Array(across * down);
  for (let y = 0, at = 0; y < of.height; y++) {
    const row = Math.floor((y * down) / of.height) * across;
    for (let x = 0; x < of.width; x++, at++) {
      const to = row + Math.floor((x * across) / of.width);
      if (Math.abs(of.largest[at]) > Math.abs(largest[to])) largest[to] = of.largest[at];
    }
  }
  return { width: across, height: down, largest };
}

const lengthOf = ({ first, end }: Span) => end - first;

function around({ first, end }: Span, { length }: readonly number[]): Span {
  const more = Math.ceil((end - first) * AROUND);
  return { first: Math.max(0, first - more), end: Math.min(length, end + more) };
}

function covers(tile: Wanted | null, needed: Wanted): boolean {
  return (
    tile !== null &&
    tile.matrix === needed.matrix &&
    tile.scale >= needed.scale &&
    within(needed.rows, tile.rows) &&
    within(needed.columns, tile.columns)
  );
}

const within = (inner: Span, outer: Span) => inner.first >= outer.first && inner.end <= outer.end;
