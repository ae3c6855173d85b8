/** A manifest as it was sent becomes one that is checked and complete. */

import { manifest as check } from "./check-manifest.ts";
import type { Manifest, StackInfo, Tokens } from "./manifest.ts";

/** The newest format that this reader knows. */
export const VERSION = 1;

interface SentStack extends Omit<StackInfo, "keys"> {
  /** Null where the keys are the queries' own sequence. */
  readonly keys: Tokens | null;
}

interface Sent extends Omit<Manifest, "version" | "stacks"> {
  readonly version?: unknown;
  readonly stacks: readonly SentStack[];
}

/** A manifest as sent becomes one with every stack's keys filled in. */
export function readManifest(sent: unknown): Manifest {
  const manifest = sent as Sent | null;
  if (typeof manifest?.version === "number" && manifest.version > VERSION) {
    throw new Error(
      `This record has format ${manifest.version}, and this view reads up to ${VERSION}: ` +
        "it was made by a newer attnwidget, so update the one that shows it.",
    );
  }
  if (typeof manifest?.version !== "number" || !Array.isArray(manifest.stacks)) {
    throw new Error("This is not an attnwidget record.");
  }
  const wrong = check(manifest);
  if (wrong !== null) throw new Error(`This record is damaged: its manifest${wrong} is not valid.`);
  const stacks = manifest.stacks.map((stack) => ({
    ...stack,
    keys: stack.keys ?? stack.queries,
    sampled: stack.sampled ?? null,
  }));
  const { version, model, missing } = manifest;
  return { version, model, missing, stacks };
}
