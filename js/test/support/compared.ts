/** A record, compared with itself. */

import { RECORD, type SentRecord } from "./vectors.ts";

interface Sent {
  lenses: { why_not: Record<string, unknown> }[];
  stacks: { name: string; layers: { heads: number }[] }[];
  metrics: { values: Record<string, unknown> }[];
  patterns: { values: Record<string, unknown> };
}

/** @param words for heads, by stack */
export function compared(
  words?: Readonly<Record<string, readonly string[][]>>,
  record: SentRecord = RECORD,
): SentRecord {
  const { stacks, lenses, metrics, patterns, ...others } = structuredClone(record.manifest) as Sent;
  const [a] = stacks;
  const b = { ...a, name: `${a.name} of B` };
  const peaks = a.layers.map(({ heads }) => Array(heads).fill(1));
  const ofBoth = <Part extends { values: Record<string, unknown> }>(part: Part) => ({
    ...part,
    values: { [a.name]: part.values[a.name], [b.name]: part.values[a.name] },
  });
  const manifest = {
    ...others,
    stacks: [a, b],
    lenses: lenses.map(({ why_not, ...lens }) => ({
      ...lens,
      why_not: { ...why_not, ...(why_not[a.name] ? { [b.name]: why_not[a.name] } : {}) },
    })),
    metrics: metrics.map(ofBoth),
    patterns: { ...ofBoth(patterns), ...(words && { words }) },
    compared: {
      stacks: [{ a: a.name, b: b.name, peaks, lenses: {} }],
      names: [["one"], ["other"]],
      remark: "",
    },
  };
  return { ...record, manifest };
}
