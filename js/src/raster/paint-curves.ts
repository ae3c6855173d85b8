/** One curve per pair, row by row. */

import type { AttentionMatrix } from "../data/attention-matrix.ts";
import { LineField } from "../kernels/lines.ts";
import { workspace } from "../kernels/workspace.ts";
import { pacer } from "../scheduling/pacer.ts";
import { type LinesJob, type ShowLines, shareOf, thickness } from "./lines-job.ts";
import { Mixer } from "./mixer.ts";

/** Among more lines than these, no pixel of a single one is told from the next. */
const MANY = 64 ** 2;

export function* paintCurves(
  matrices: readonly AttentionMatrix[],
  job: LinesJob,
  show: ShowLines,
): Generator<void> {
  const { rows, columns, from, to, width, height, inks, ratio, faintest } = job;
  const stretch = rows.length * columns.length > MANY ? 2 : 1;
  const numbers =
    LineField.numbers(width, height, stretch) + Mixer.numbers(matrices.length, columns.length);
  const { kernels, release } = workspace(numbers);
  try {
    const field = new LineField(width, height, kernels, stretch);
    const mixer = new Mixer(matrices, columns, inks, kernels);
    let given = 0;
    const due = pacer();
    for (let at = 0; at < rows.length; at++) {
      mixer.mix(rows[at]);
      const { mixed } = mixer;
      for (let key = 0, n = 0; n < mixed.length; key++, n += 4) {
        const most = mixed[n + 3];
        if (most < faintest) continue;
        given += mixer.given(key);
        const color = [mixed[n], mixed[n + 1], mixed[n + 2]] as const;
        // However many heads, it is as opaque as the strongest is sure.
        field.add(from[at], to[key], thickness(most, ratio), color, Math.min(1, most));
      }
      if (due()) show(field.pixels(), null);
      yield;
    }
    show(field.pixels(), shareOf(given, mixer.total));
  } finally {
    release();
  }
}
