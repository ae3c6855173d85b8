/**
 * Reads the file of a record, which `attnwidget/record/storage.py` writes, as the content of a page.
 *
 * Thumbnails and numbers of heads, which are not in a file, are computed by `record-numbers.ts`.
 * Layers are read from the file as they are shown.
 */

import type { Block, Part } from "../data/codec.ts";
import { sampledOf } from "./record-numbers.ts";

/** Version 5 of manifests, and the versions of files that are read. */
export const MANIFEST = 5;
const NEWEST = { record: 3, profile: 1 };

const LARGEST_HEADER = 2 ** 25;

export const NO_RECORD = "It is neither a record nor a page of attnwidget.";

/** An element of a page in place of a layer that is elsewhere. */
export interface Elsewhere extends Element {
  block?: () => Promise<Block>;
}

// biome-ignore lint/suspicious/noExplicitAny: the page checks the manifest and the blocks made of it.
type Json = any;

/** An array of a file. */
interface Read {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A safetensors file of ours: what its JSON text says, and its arrays. */
export type OurFile = Awaited<ReturnType<typeof readFile>>;

export async function readFile(file: Blob) {
  const size = Number(new DataView(await bytesOf(file, 0, 8)).getBigUint64(0, true));
  if (size > LARGEST_HEADER) throw new Error(NO_RECORD);
  const header = JSON.parse(new TextDecoder().decode(await bytesOf(file, 8, 8 + size)));
  const described = (["record", "profile"] as const).find(
    (kind) => header.__metadata__?.[`attnwidget-${kind}`] !== undefined,
  );
  if (described === undefined) throw new Error(NO_RECORD);
  const content: Json = JSON.parse(header.__metadata__[`attnwidget-${described}`]);
  if (content.version > NEWEST[described])
    throw new Error("A newer version of attnwidget wrote it.");
  return {
    ...{ kind: described, content },
    async read(name: string): Promise<Read> {
      const { dtype, shape, data_offsets } = header[name];
      const [start, end] = data_offsets.map((at: number) => 8 + size + at);
      const bytes = new Uint8Array(await bytesOf(file, start, end));
      // A part of a file ends early.
      if (bytes.length < end - start) throw new RangeError();
      return { dtype, shape, bytes };
    },
    shapeOf(name: string | undefined): readonly number[] | null {
      if (name === undefined) return null;
      const { shape, data_offsets } = header[name];
      const [start, end] = data_offsets;
      // Heads are counted before the array is read: as many as the file can have.
      const least = shape.reduce((all: number, length: number) => all * Math.max(1, length), 1);
      if (!(least <= end - start && end <= file.size)) throw new RangeError();
      return shape;
    },
  };
}

/** @param lenses those that the browser computes, as `attnwidget/page/viewer.py` writes them */
export async function readRecord(file: OurFile, lenses: readonly object[]) {
  const { content } = file;
  /** By the name of a stack and the number of a layer, "self.0". */
  const blocks = new Map<string, () => Promise<Block>>();
  const stacks: Json[] = [];
  for (const stack of content.stacks) {
    const layers = [];
    for (const layer of stack.layers) {
      layers.push(await layerOf(layer, file));
      blocks.set(`${stack.name}.${layer.number}`, () => blockOf(layer, file.read));
    }
    const same = JSON.stringify(stack.queries) === JSON.stringify(stack.keys);
    const [queries, keys] = [tokensOf(stack.queries), same ? null : tokensOf(stack.keys)];
    stacks.push({ name: stack.name, queries, keys, sampled: null, layers });
  }
  const sampled = sampledOf(
    stacks.map(({ queries, keys, layers }) => ({
      queries: queries.labels.length,
      keys: (keys ?? queries).labels.length,
      heads: layers.reduce((sum: number, { heads }: Json) => sum + heads, 0),
    })),
  );
  stacks.forEach((stack, at) => {
    stack.sampled = sampled[at];
  });
  // Version 1 had one image.
  const { model, missing, image, images = image ? [image] : [], replay } = content;
  /** Without the numbers of heads. */
  const manifest: Json = {
    ...{ version: MANIFEST, model, missing, stacks, images, texts: null, lenses },
    replay: replay && { difference: replay.difference, reason: replay.reason },
  };
  return { manifest, blocks };
}

const bytesOf = (file: Blob, start: number, end: number) => file.slice(start, end).arrayBuffer();

function tokensOf({ labels, segments, special, words, patches, boxes, generated }: Json) {
  // The one token of an answer that is not read is none of these.
  const own = generated === labels.length ? null : generated;
  const joined = words && wordsOf(labels, words);
  const placed =
    patches && (patches.grids ? patches : { ...patches, soft: false, grids: [onImage(patches)] });
  return { labels, segments, special, words: joined, patches: placed, boxes, generated: own };
}

/** The one grid of the first version. */
const onImage = ({ rows, columns }: Json) => ({
  ...{ rows, columns, image: 0, box: [0, 0, 1, 1], name: "" },
});

/** The words that tokens make, as `attnwidget/analysis/words.py` has them. */
export function wordsOf(labels: readonly string[], words: readonly (number | null)[]) {
  const parts: string[][] = [];
  const of = labels.map((label, at) => {
    if (words[at] === null || at === 0 || words[at] !== words[at - 1]) parts.push([]);
    parts[parts.length - 1].push(label);
    return parts.length - 1;
  });
  return { labels: parts.map(joined), of };
}

function joined([first, ...rest]: readonly string[]): string {
  if (!rest.length) return first;
  // The signs of tokens inside a word.
  const inside = rest.map((label) => whole(label.replace(/^(?:##(?=[^#]))?\u25cc?/, "")));
  const text = whole(first) + inside.join("");
  // A space that is a token of its own.
  return text.replace(/^\u2423+/, "") || text;
}

/** The text of a token; a character that several share, as "🦜 1/3", belongs to the first. */
const whole = (label: string): string =>
  label
    .split(" + ")
    .map((part) => /^(.+) 1\/\d+$/.exec(part)?.[1] ?? (/^.+ \d+\/\d+$/.test(part) ? "" : part))
    .join("");

const floatsOf = ({ bytes }: Read) => new Float32Array(bytes.buffer);

async function layerOf(
  { number, arrays, program, rotary, labels = null, fidelity }: Json,
  { shapeOf, read }: OurFile,
) {
  const recurrence = program && "recurrence" in program;
  const queries = shapeOf(arrays.queries);
  const matrices = shapeOf(arrays.weights ?? arrays.coefficients);
  const strengths = shapeOf(arrays.decay ?? arrays.write ?? arrays.erase ?? arrays.own);
  const [heads] = (recurrence && strengths) || queries || (matrices as readonly number[]);
  // Coefficients stand alone.
  const vectors = arrays.coefficients === undefined ? queries : null;
  const list = async (name: string | undefined) =>
    name === undefined ? null : [...floatsOf(await read(name))];
  const sinks = await list(arrays.sinks);
  const weights = !program && arrays.weights !== undefined && (await read(arrays.weights));
  const errors = [fidelity.weights_error, fidelity.output_error].filter((each) => each !== null);
  return {
    ...{ number, heads, bytes: 0, key_heads: shapeOf(arrays.keys)?.[0] ?? heads },
    dim: vectors?.[2] ?? null,
    rotary: vectors && rotary,
    program:
      program && !recurrence
        ? {
            ...program,
            sinks:
              sinks === null ? null : sinks.map((sink) => (Number.isFinite(sink) ? sink : null)),
            bias: arrays.bias !== undefined,
            relative: arrays.relative !== undefined,
          }
        : null,
    sums: weights ? sumsOf(floatsOf(weights), weights.shape[2]) : null,
    ...(recurrence && {
      signed: "coefficients",
      recurrence: {
        scale: program.recurrence,
        query_heads: queries?.[0],
        decay: shapeOf(arrays.decay)?.[2] ?? 0,
        write: arrays.write !== undefined,
        erase: arrays.erase !== undefined,
        own: await list(arrays.own),
      },
    }),
    ...(arrays.coefficients !== undefined && {
      // Those of words are sums of coefficients of heads.
      signed: fidelity.route === "recurrence" ? "coefficients" : "contributions",
      recurrence: null,
    }),
    fidelity: {
      exact: errors.length ? errors.every((error) => error <= fidelity.tolerance) : null,
      ...{ module: fidelity.module, tolerance: fidelity.tolerance, labels },
    },
  };
}

/** The largest distance of a row's sum from 1, as `SUM_TOLERANCE` in Python. */
const SUM_TOLERANCE = 0.02;

/** The least and the largest sum of a row; null if all are 1, or 0. */
function sumsOf(weights: Float32Array, columns: number): readonly [number, number] | null {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let start = 0; start < weights.length; start += columns) {
    const sum = weights.subarray(start, start + columns).reduce((all, own) => all + own, 0);
    if (sum) [least, most] = [Math.min(least, sum), Math.max(most, sum)];
  }
  const far = Math.max(1 - least, most - 1) > SUM_TOLERANCE;
  return far && most ? [least, most] : null;
}

/** The arrays of a layer that a view reads, as they are in the file. */
async function blockOf({ arrays, program }: Json, read: OurFile["read"]): Promise<Block> {
  const [parts, buffers]: [Part[], Uint8Array[]] = [[], []];
  const names =
    arrays.coefficients === undefined
      ? ["queries", "keys", "visible", "bias", "relative", "decay", "write", "erase"]
      : ["coefficients"];
  if (!program) names.push("weights");
  for (const name of names.filter((each) => arrays[each] !== undefined)) {
    const { dtype, shape, bytes } = await read(arrays[name]);
    const isMask = dtype === "BOOL";
    parts.push({ name, dtype: isMask ? "bits" : "f32", shape });
    buffers.push(isMask ? packed(bytes) : bytes);
  }
  return { parts, buffers };
}

/** Booleans in bits, most significant bit first. */
function packed(booleans: Uint8Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(booleans.length / 8));
  booleans.forEach((own, at) => {
    if (own) bits[at >> 3] |= 128 >> (at & 7);
  });
  return bits;
}
