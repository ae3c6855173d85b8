/** Draws one curve per query and key, row by row. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import { LineField } from "../kernels/lines.ts";
import { workspace } from "../kernels/workspace.ts";
import { pacer } from "../scheduling/slices.ts";
import { type LinesJob, type ShowLines, shareOf, thickness } from "./lines-job.ts";
import { type Ink, Mixer } from "./mixer.ts";

/** The most lines whose pixels are drawn one by one. */
const MANY = 64 ** 2;

export const areFew = (lines: number): boolean => lines <= MANY;

type Draw = (from: number, to: number, thickness: number, ink: Ink, opacity: number) => void;

export function* paintCurves(
  matrices: readonly AttentionMatrix[],
  job: LinesJob,
  show: ShowLines,
): Generator<void> {
  const { rows, columns, width, height, inks, ratio } = job;
  // A column of two pixels shows on screens with large pixels.
  const stretch = areFew(rows.length * columns.length) || ratio < 2 ? 1 : 2;
  const numbers =
    LineField.numbers(width, height, stretch) + Mixer.numbers(matrices.length, columns.length);
  const { kernels, release } = workspace(numbers);
  try {
    const field = new LineField(width, height, kernels, stretch);
    const mixer = new Mixer(matrices, columns, inks, kernels);
    const draw: Draw = field.add.bind(field);
    let drawn = 0;
    const due = pacer();
    for (let at = 0; at < rows.length; at++) {
      drawn += drawRow(mixer, job, at, draw);
      if (due()) show(field.pixels(), null);
      yield;
    }
    show(field.pixels(), shareOf(drawn, mixer.total));
  } finally {
    release();
  }
}

export function drawCurves(matrices: readonly AttentionMatrix[], job: LinesJob, draw: Draw): void {
  const { rows, columns, inks } = job;
  const { kernels, release } = workspace(Mixer.numbers(matrices.length, columns.length));
  try {
    const mixer = new Mixer(matrices, columns, inks, kernels);
    for (let at = 0; at < rows.length; at++) drawRow(mixer, job, at, draw);
  } finally {
    release();
  }
}

/** Draw the curves from one query. Returns the attention drawn. */
function drawRow(mixer: Mixer, job: LinesJob, at: number, draw: Draw): number {
  const { rows, from, to, ratio, faintest } = job;
  mixer.mix(rows[at]);
  const { mixed } = mixer;
  let drawn = 0;
  for (let key = 0, n = 0; n < mixed.length; key++, n += 4) {
    const most = mixed[n + 3];
    if (most < faintest) continue;
    drawn += mixer.weightAt(key);
    const ink = [mixed[n], mixed[n + 1], mixed[n + 2]] as const;
    // The opacity is that of the largest weight of any head.
    draw(from[at], to[key], thickness(most, ratio), ink, Math.min(1, most));
  }
  return drawn;
}
