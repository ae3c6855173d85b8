/** Reads the file of a profile, which `attnwidget/corpus/storage.py` writes, as the content of a page. */

import { inflate } from "../basics/bytes.ts";
import { same } from "../basics/same.ts";
import { count, float16 } from "../data/codec.ts";
import { levelOf, type MetricWords, packedLevels } from "./record-numbers.ts";

/** A rule that gives a head its words, as `attnwidget/analysis/patterns.py` has them. */
interface Rule {
  readonly words: string;
  readonly metric: string;
  readonly least: number;
  readonly of_rest: string | null;
  readonly nulls: readonly string[];
  /** The index of its words. */
  readonly kind: number;
}

export interface Rules {
  readonly kinds: readonly string[];
  readonly mixed: number;
  readonly resting: readonly Rule[];
  readonly looking: readonly Rule[];
  readonly above_null: number;
  readonly least_rest: number;
}

const SIDE = 32;
/** No byte of deflated data gives more bytes. */
const MOST_INFLATED = 1032;

// biome-ignore lint/suspicious/noExplicitAny: the page checks the manifest that is made of it.
type Json = any;

type Numbers = Readonly<Record<string, number>>;

/** The manifest and the thumbnails of a profile. */
export async function readProfile(
  content: Json,
  bytesOf: (name: string) => Promise<Uint8Array>,
  known: readonly Pick<MetricWords, "name" | "digits" | "directions">[],
  rules: Rules,
) {
  async function array(name: string, dtype: string, shape: readonly number[]) {
    const said = content.arrays[name];
    if (said.dtype !== dtype || !same(said.shape, shape)) throw new TypeError();
    const packed = await bytesOf(name);
    const size = Number(dtype.at(-1)) * count(shape);
    if (!(size <= MOST_INFLATED * packed.length)) throw new TypeError();
    return (await inflate(packed, size, "profile")).buffer;
  }
  const { model, missing, num_texts: texts, nulls } = content;
  const names: string[] = content.metrics.map(({ name }: Json) => name);
  const [stacks, levels]: [Json[], number[]] = [[], []];
  const [kinds, words, reasons]: Record<string, unknown>[] = [{}, {}, {}];
  const metrics: Json[] = content.metrics.map((said: Json) => {
    const own = known.find(({ name }) => name === said.name);
    const { digits = -1, directions = null } = own ?? {};
    return { ...said, digits, directions, signed: directions !== null, values: {} };
  });
  for (const [at, { name, numbers, heads }] of content.stacks.entries()) {
    if (heads.length !== numbers.length) throw new TypeError();
    const width = Math.max(...heads);
    const shape = [1 + nulls.length, names.length, numbers.length, width];
    const read = async (of: string) => new Float64Array(await array(`${at}.${of}`, "<f8", shape));
    const estimates = {
      mean: await read("mean"),
      low: await read("low"),
      high: await read("high"),
    };
    /** An estimate of a metric, of the model itself or of a null from 1 on. */
    const numberOf = (end: keyof typeof estimates, condition: number, row: number, head: number) =>
      estimates[end][(condition * names.length + row) * numbers.length * width + head];
    const cells = [numbers.length, width, SIDE, SIDE];
    const halves = new Uint16Array(await array(`${at}.thumbnails`, "<f2", cells));
    const byHead = <Value>(make: (head: number) => Value): Value[][] =>
      heads.map((length: number, layer: number) =>
        Array.from({ length }, (_, head) => make(layer * width + head)),
      );
    byHead((head) => {
      const own = halves.subarray(head * SIDE * SIDE, (head + 1) * SIDE * SIDE);
      levels.push(...packedLevels(Uint8Array.from(own, (half) => levelOf(float16(half)))));
    });
    metrics.forEach((metric, row) => {
      const of = (end: keyof typeof estimates, condition: number) => {
        const values = byHead((head) => sent(numberOf(end, condition, row, head)));
        return values.flat().some((value) => value !== null) ? values : null;
      };
      const values = of("mean", 0);
      if (!values) return;
      metric.values[name] = values;
      const beside = nulls.length ? of("mean", 1) : null;
      if (beside) {
        metric.null ??= { label: nulls[0], values: {} };
        metric.null.values[name] = beside;
      }
      const [low, high] = [of("low", 0), of("high", 0)];
      if (low && high) {
        metric.interval ??= { low: {}, high: {} };
        metric.interval.low[name] = low;
        metric.interval.high[name] = high;
      }
    });
    const patterns = byHead((head) => {
      const of = (end: keyof typeof estimates, condition: number): Numbers =>
        Object.fromEntries(names.map((own, row) => [own, numberOf(end, condition, row, head)]));
      const beside = nulls.map((own: string, n: number) => [own, of("high", n + 1)] as const);
      return patternOf(rules, of("mean", 0), new Map(beside));
    });
    kinds[name] = patterns.map((layer) => layer.map(({ kind }) => kind));
    words[name] = patterns.map((layer) => layer.map((each) => each.words));
    reasons[name] = patterns.map((layer) => layer.map((each) => each.reasons));
    const layers = numbers.map((number: number, layer: number) => layerOf(number, heads[layer]));
    stacks.push({ name, queries: TOKEN, keys: null, sampled: null, layers });
  }
  for (const metric of metrics) {
    const numbers: number[] = Object.values(metric.values).flat(2) as number[];
    if (metric.digits >= 0) continue;
    metric.digits = digitsOf(numbers);
    metric.signed = numbers.some((value) => value < 0);
  }
  return {
    manifest: {
      ...{ model, missing, stacks, images: [], texts },
      metrics: metrics.filter(({ values }) => Object.keys(values).length),
      patterns: { kinds: rules.kinds, values: kinds, words, reasons },
    },
    overview: Uint8Array.from(levels),
  };
}

/** The heads stand over one token without a label: a profile has no text. */
const TOKEN = {
  ...{ labels: [""], segments: null, special: [], words: null },
  ...{ patches: null, boxes: null, generated: null },
};

const layerOf = (number: number, heads: number) => ({
  ...{ number, heads, key_heads: heads, bytes: 0, dim: null, rotary: null },
  ...{ program: null, sums: null },
  fidelity: { exact: null, module: "", tolerance: 0, labels: null },
});

/** A number as JSON, to five digits; null for none. */
const sent = (value: number): number | null =>
  Number.isFinite(value) ? Number(value.toPrecision(5)) : null;

/** The decimals with which the largest has three significant digits; 0 for whole numbers. */
function digitsOf(numbers: readonly number[]): number {
  if (numbers.every((value) => Number.isInteger(value ?? 0))) return 0;
  const most = numbers.reduce((all, value) => Math.max(all, Math.abs(value ?? 0)), 0);
  return Math.min(20, Math.max(0, 2 - Math.floor(Math.log10(most))));
}

/** The words for a head, by the rules of `head_pattern` in Python. */
export function patternOf(rules: Rules, values: Numbers, nulls: ReadonlyMap<string, Numbers>) {
  const nameOf = (rule: Rule, rest: boolean) =>
    rest ? (rule.of_rest ?? rule.metric) : rule.metric;
  const besideOf = (rule: Rule, rest: boolean) =>
    rule.nulls
      .map((name) => [name, nulls.get(name)?.[nameOf(rule, rest)] ?? Number.NaN] as const)
      .filter(([, number]) => !Number.isNaN(number));
  const fits = (rest: boolean) => (rule: Rule) => {
    const others = besideOf(rule, rest).map(([, number]) => number + rules.above_null);
    return values[nameOf(rule, rest)] > Math.max(rule.least, ...others);
  };
  const resting = rules.resting.find(fits(false));
  const rests = resting !== undefined;
  const looks = !rests || values.rest > rules.least_rest;
  const looking = looks ? rules.looking.find(fits(rests)) : undefined;
  const short = (number: number) => number.toFixed(2).replace(/^0/, "");
  const reason = (rule: Rule, rest: boolean) => {
    const beside = besideOf(rule, rest).map(([name, number]) => `${name} ${short(number)}`);
    const own = nameOf(rule, rest);
    const said = `${own} ${short(values[own])} > ${String(rule.least).replace(/^0/, "")}`;
    return beside.length ? `${said} (${beside.join(", ")})` : said;
  };
  const found = [resting, looking].filter((rule) => rule !== undefined);
  return {
    kind: (looking ?? resting)?.kind ?? rules.mixed,
    words: found.map((rule) => rule.words).join("; else ") || rules.kinds[rules.mixed],
    reasons: [resting && reason(resting, false), looking && reason(looking, rests)]
      .filter(Boolean)
      .join(", "),
  };
}
