/** Rasterizes a picture: on the page at once if it is quick, else in the worker. */

import { type AttentionMatrix, headsOf, isMatrix } from "../data/attention-matrix.ts";
import { compiledModule } from "../kernels/compiled.ts";
import { sliced } from "../scheduling/slices.ts";
import { type Job, type Kind, RASTERIZERS, type Show } from "./jobs.ts";
import { pageWorker } from "./worker/page-worker.ts";

/** The longest duration on the page, as estimated: a message to the worker takes as long. */
const QUICK_MS = 24;

/** The approximate number of multiplications per millisecond. */
const WASM_SPEED = 2e6;
const JAVASCRIPT_SPEED = 3e5;

/**
 * The cost of drawing one curve, in multiplications. It is counted low, since the worker would take
 * more memory and paint 128 tokens no sooner: on the page, they are drawn in slices.
 */
const CURVE = 1500;

/** Draw a job's picture. Returns a function that stops it. */
export function rasterize<Of extends Kind>(
  kind: Of,
  matrices: readonly AttentionMatrix[],
  job: Job<Of>,
  show: Show<Of>,
): () => void {
  const here = () => sliced(RASTERIZERS[kind](matrices, job, show));
  const source = sourceOf(matrices);
  const worker = pageWorker();
  if (!source || !worker || worker.refused || isQuick(kind, matrices, job)) return here();
  let stopHere = () => {};
  const failed = () => {
    stopHere = here();
  };
  const stop = worker.paint(kind, source, matrices, job, { show: show as never, failed });
  return () => {
    stop();
    stopHere();
  };
}

/** The source that all matrices share; null if there are several. */
const sourceOf = (matrices: readonly AttentionMatrix[]) =>
  matrices.every(({ source }) => source === matrices[0].source)
    ? (matrices[0]?.source ?? null)
    : null;

function isQuick(
  kind: Kind,
  matrices: readonly AttentionMatrix[],
  { rows, columns }: Job<Kind>,
): boolean {
  const work = matrices.reduce((sum, { spec, source }) => {
    if (source === null || isMatrix(source)) return sum;
    return sum + headsOf(spec).length * source.numKeys * (source.info.dim ?? 0);
  }, 0);
  const curves = kind === "lines" ? columns.length * CURVE : 0;
  const speed = compiledModule() ? WASM_SPEED : JAVASCRIPT_SPEED;
  return rows.length * (work + curves) <= QUICK_MS * speed;
}
