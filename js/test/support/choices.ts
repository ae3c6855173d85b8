/** The store and the state of a record. */

import type { Manifest } from "../../src/data/manifest.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { type Source, Store } from "../../src/data/store.ts";
import type { Choices, ViewName } from "../../src/state/choices.ts";
import { createState, type State } from "../../src/state/state.ts";
import { bytes, RECORD, type SentRecord } from "./vectors.ts";

const nothing: Source = { block: () => new Promise(() => {}) };

const manifests = new WeakMap<SentRecord, Manifest>();

/** The manifest of a record, read once: numbers of heads are found by its own layers. */
export function manifestOf(record: SentRecord = RECORD): Manifest {
  const manifest = manifests.get(record) ?? readManifest(record.manifest);
  manifests.set(record, manifest);
  return manifest;
}

/** By default, no layer ever arrives. */
export const storeOf = (record: SentRecord = RECORD, source: Source = nothing): Store =>
  new Store(manifestOf(record), bytes(record.overview), source);

/** Choices that are left out have their defaults. */
export const stateOf = (
  choices: Partial<Choices> = {},
  record: SentRecord = RECORD,
  views?: readonly ViewName[],
): State => createState(manifestOf(record), choices, views);
