/** Many inputs, each made of a number that makes it again. */

import { expect } from "vitest";
import { type Random, randomOf } from "./mutate.ts";
import past from "./past.json";

const given = (import.meta as { env?: Record<string, string> }).env ?? {};
/** Times as many inputs as usual, and where their numbers begin. */
const SCALE = Number(given.VITE_FUZZ ?? 1);
const SEED = Number(given.VITE_FUZZ_SEED ?? 0);

/** Numbers that once went wrong, by campaign: each is tried again before anything else. */
const PAST: Readonly<Record<string, readonly number[]>> = past;

/** Milliseconds that a campaign may take: a hang of the page is one of the test. */
export const CAMPAIGN_PATIENCE = 300_000 * SCALE;

/**
 * @param tried makes an input and tries it: returns whether it was accepted as sound. What it throws is
 * a message for the reader; what the language throws itself, as a TypeError, is a bug.
 */
export async function campaign(
  name: string,
  count: number,
  tried: (random: Random) => boolean | Promise<boolean>,
): Promise<void> {
  const again = PAST[name] ?? [];
  const last = SEED + count * SCALE;
  const numbers = [...again, ...Array.from({ length: last - SEED }, (_, n) => SEED + n)];
  let accepted = 0;
  for (const number of numbers) {
    try {
      if (await tried(randomOf(`${name} ${number}`))) accepted++;
    } catch (error) {
      if (error instanceof Error && error.constructor === Error) continue;
      throw new Error(`${name} ${number}: ${error instanceof Error ? error.stack : error}`);
    }
  }
  const refused = numbers.length - accepted;
  console.info(
    `${name}: ${last - SEED} inputs (seeds ${SEED} to ${last - 1}) and ${again.length} past ones, ` +
      `${accepted} accepted, ${refused} refused, 0 crashes, 0 hangs`,
  );
  // If all inputs are refused, or none, the test does not try damage.
  expect(Math.min(accepted, refused)).toBeGreaterThan(0);
}
