/**
 * Thumbnails, numbers and patterns of the heads of a record, for the viewer: what
 * `attnwidget/analysis/head_summaries.py` computes in Python, of the same definitions.
 */

import { pauses } from "../data/combine.ts";
import type { Manifest, StackInfo, Tokens } from "../data/manifest.ts";
import type { Store } from "../data/store.ts";
import { cellsOfTokens } from "../data/thumbnails.ts";

/** A metric, as `attnwidget/page/viewer.py` describes it. */
export interface MetricWords {
  readonly name: string;
  readonly directions: readonly [string, string] | null;
  readonly digits: number;
  readonly label: string;
  readonly unit: string;
  readonly description: string;
  /** Only of tokens that attend to each other. */
  readonly self_only: boolean;
  /** True for softmax only, false for layers without one only, null for both. */
  readonly of_softmax: boolean | null;
}

/** The first share that reaches `least` names the pattern. */
export interface ShareRules {
  readonly kinds: readonly string[];
  readonly shares: readonly (readonly [metric: string, kind: number])[];
  readonly least: number;
  readonly mixed: number;
}

/** The cells of all matrices that are read, which takes some seconds; of more, rows are sampled. */
const MOST_CELLS = 2e8;
const LEAST_ROWS = 256;

/** The longest side of a thumbnail, in cells. */
const SIDE = 32;

/** The number of rows that are read of each stack; null for all of them. */
export function sampledOf(
  stacks: readonly { readonly queries: number; readonly keys: number; readonly heads: number }[],
): readonly (number | null)[] {
  const all = stacks.reduce((sum, { queries, keys, heads }) => sum + queries * keys * heads, 0);
  return stacks.map(({ queries }) => {
    const rows = Math.max(LEAST_ROWS, Math.floor((queries * MOST_CELLS) / all));
    return rows < queries ? rows : null;
  });
}

/** @param said is called before each layer */
export async function headNumbers(
  { stacks }: Manifest,
  store: Store,
  words: readonly MetricWords[],
  rules: ShareRules,
  said: (layer: number, layers: number) => void,
) {
  const { signal } = new AbortController();
  const pause = pauses();
  const overview: number[] = [];
  const values: Record<string, Record<string, number[][]>> = {};
  const patterns: Record<string, number[][]> = {};
  /** The largest magnitude of every head, of stacks without a softmax. */
  const peaks: Record<string, number[][]> = {};
  const count = stacks.reduce((sum, { layers }) => sum + layers.length, 0);
  let at = 0;
  for (const stack of stacks) {
    const { name, layers, queries, keys } = stack;
    const signed = Boolean(layers[0].signed);
    const defined = words.filter(
      ({ self_only, of_softmax }) =>
        !(self_only && queries !== keys) && (of_softmax === null || of_softmax !== signed),
    );
    patterns[name] = [];
    for (const each of defined) {
      values[each.name] ??= {};
      values[each.name][name] = [];
    }
    for (const { number, heads } of layers) {
      said(++at, count);
      const layer = await store.stack(name).fetch(number, signal);
      const whole = layer?.whole;
      if (!whole) throw new Error(`Layer ${number} is missing.`);
      const found: ReturnType<typeof headSummary>[] = [];
      for (let head = 0; head < heads; head++) {
        found.push(headSummary((query) => whole.passingRow(head, query), signed, stack));
        await pause();
      }
      const metric = (of: string) => found.map(({ metrics }) => metrics[of]);
      for (const each of defined) values[each.name][name].push(metric(each.name));
      if (!found.every(({ metrics }) => Object.values(metrics).every(Number.isFinite))) {
        throw new Error(
          `The scores of layer ${number} are beyond single precision, so no attention follows from them.`,
        );
      }
      patterns[name].push(
        found.map(({ metrics }) => {
          const first = rules.shares.find(
            ([each]) => defined.some((own) => own.name === each) && metrics[each] >= rules.least,
          );
          return first?.[1] ?? rules.mixed;
        }),
      );
      if (signed) peaks[name] = [...(peaks[name] ?? []), found.map(({ peak }) => peak)];
      for (const { levels } of found) overview.push(...packedLevels(levels));
    }
  }
  return {
    overview: Uint8Array.from(overview),
    metrics: words.flatMap(({ self_only, of_softmax, ...said }) => {
      const own = values[said.name];
      if (!own && of_softmax === false) return [];
      return [{ ...said, signed: said.directions !== null, values: own ?? {} }];
    }),
    patterns: { kinds: rules.kinds, values: patterns },
    peaks,
  };
}

/** Two levels in a byte, the first one in its high half. */
export const packedLevels = (levels: Uint8Array): Uint8Array =>
  Uint8Array.from(
    { length: Math.ceil(levels.length / 2) },
    (_, at) => (levels[2 * at] << 4) | (levels[2 * at + 1] ?? 0),
  );

/** The levels of a weight's square root, 0 to 15; and of a number as a share of a peak, around 8. */
export const levelOf = (weight: number): number => Math.round(15 * Math.sqrt(Math.min(1, weight)));
const signedLevel = (share: number) =>
  8 + Math.sign(share) * Math.round(7 * Math.sqrt(Math.abs(share)));

interface Row {
  readonly i: number;
  /** The magnitude at a key as a share of the row: of weights, the weight. */
  readonly share: (key: number) => number;
  readonly keys: Tokens;
  readonly entropy: number;
  readonly distance: number;
  readonly negative: number;
  readonly sum: number;
}

/** The metrics of a row by name; null where it does not count. */
const OF_ROW: Readonly<Record<string, (row: Row) => number | null>> = {
  entropy: ({ entropy }) => entropy,
  distance: ({ distance }) => distance,
  previous: ({ i, share }) => (i > 0 ? share(i - 1) : null),
  same: ({ i, keys, share }) => (i < keys.labels.length ? share(i) : null),
  next: ({ i, keys, share }) => (i + 1 < keys.labels.length ? share(i + 1) : null),
  first: ({ share }) => share(0),
  special: ({ keys, share }) => keys.special.reduce((all, key) => all + share(key), 0),
  entropy_first: ({ i, entropy }) => (i === 0 ? entropy : null),
  negative: ({ negative }) => negative,
  row_sum: ({ sum }) => sum,
};

/** True for a metric that is computed here. */
export const inBrowser = ({ name }: MetricWords) => Object.hasOwn(OF_ROW, name);

/** The thumbnail and the metrics of a head, of which some may not be defined for its stack. */
export function headSummary(
  rowOf: (query: number) => Float32Array,
  signed: boolean,
  { queries, keys, sampled }: Pick<StackInfo, "queries" | "keys" | "sampled">,
) {
  const [all, columns] = [queries, keys].map(({ labels }) => Math.min(SIDE, labels.length));
  const [lines, places] = [cellsOfTokens(queries, all), cellsOfTokens(keys, columns)];
  const cells = new Float32Array(all * columns);
  const names = Object.keys(OF_ROW);
  const [sums, counts] = [new Float64Array(names.length), new Float64Array(names.length)];
  const last = queries.labels.length - 1;
  const rows = sampled ?? last + 1;
  for (let n = 0; n < rows; n++) {
    const i = Math.round((n * last) / Math.max(1, rows - 1));
    const row = rowOf(i);
    let [total, moment, logs, below, sum] = [0, 0, 0, 0, 0];
    for (let j = 0; j < row.length; j++) {
      const value = row[j];
      if (value === 0) continue;
      const size = Math.abs(value);
      total += size;
      moment += size * (j - i);
      logs += size * Math.log(size);
      sum += value;
      if (value < 0) below += size;
      const cell = lines[i] * columns + places[j];
      if (size > Math.abs(cells[cell])) cells[cell] = value;
    }
    // A query that sees no key does not count.
    if (total === 0) continue;
    const divisor = signed ? total : 1;
    const own: Row = {
      ...{ i, keys, sum, entropy: -logs },
      share: (key) => Math.abs(row[key]) / divisor,
      distance: moment / divisor,
      negative: below / divisor,
    };
    names.forEach((name, at) => {
      const value = OF_ROW[name](own);
      if (value === null) return;
      sums[at] += value;
      counts[at]++;
    });
  }
  const peak = cells.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return {
    // To more decimals than are shown, so that nothing is rounded twice.
    metrics: Object.fromEntries(
      names.map((name, at) => [name, Math.round((1e6 * sums[at]) / (counts[at] || 1)) / 1e6]),
    ),
    levels: Uint8Array.from(cells, (value) =>
      signed ? signedLevel(value / (peak || 1)) : levelOf(value),
    ),
    peak,
  };
}
