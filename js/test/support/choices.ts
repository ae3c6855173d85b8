/** The store and the state of a record. */

import { readManifest } from "../../src/data/read-manifest.ts";
import { type Source, Store } from "../../src/data/store.ts";
import type { Choices, ViewName } from "../../src/state/choices.ts";
import { createState, type State } from "../../src/state/state.ts";
import { bytes, RECORD, type SentRecord } from "./vectors.ts";

const nothing: Source = { block: () => new Promise(() => {}) };

/** By default, no layer ever arrives. */
export const storeOf = (record: SentRecord = RECORD, source: Source = nothing): Store =>
  new Store(readManifest(record.manifest), bytes(record.overview), source);

/** Choices that are left out have their defaults. */
export const stateOf = (
  choices: Partial<Choices> = {},
  record: SentRecord = RECORD,
  views?: readonly ViewName[],
): State => createState(readManifest(record.manifest), choices, views);
