/** Reads a manifest of this version, and what comes beside it, or says what is damaged. */

import { maybe, type Reader, valid } from "../basics/reader.ts";
import {
  type Arc,
  arcs,
  type Examples,
  examples,
  type Manifest,
  type Metric,
  manifest,
  metrics,
  type Similarity,
  similarity,
} from "./manifest.ts";

/** The format version that can be read. */
export const VERSION = 5;

/** Read a manifest: of what is left out, it says so. */
export function readManifest(sent: unknown): Manifest {
  const format = (sent as { readonly version?: unknown } | null)?.version;
  if (typeof format !== "number") throw new Error("This is not an attnwidget record.");
  if (format !== VERSION) {
    // A newer record in one kernel means that the front end was not built, or not installed, with it.
    const first =
      format > VERSION ? "In a clone, run make demo; else, install it again. Then r" : "R";
    throw new Error(
      `This record has format ${format}, and this view reads format ${VERSION}: another ` +
        `version of attnwidget wrote it. ${first}estart the kernel, and show the record again with Python.`,
    );
  }
  return recorded("manifest", manifest, sent);
}

/** Read the metrics that the user computed; some hosts leave them out. */
export const readMetrics = (sent: unknown, { stacks }: Manifest): readonly Metric[] =>
  recorded("metrics", metrics(stacks), sent ?? []);

/** Read annotated links; some hosts leave them out. */
export const readArcs = (sent: unknown, { stacks }: Manifest): readonly Arc[] =>
  recorded("arcs", arcs(stacks), sent ?? []);

/** Read the similarity of heads; null if it is not known. */
export const readSimilarity = (sent: unknown, { stacks }: Manifest): Similarity | null =>
  recorded("similarity", maybe(similarity(stacks)), sent);

/** Read the examples of heads; null if there are none. */
export const readExamples = (sent: unknown, { stacks }: Manifest): Examples | null =>
  recorded("examples", maybe(examples(stacks)), sent);

const recorded = <Value>(name: string, read: Reader<Value>, sent: unknown): Value =>
  valid(`This record is damaged: its ${name}`, read, sent);
