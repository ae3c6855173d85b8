/** Whatever was accepted as a record is drawn, in every view, without an error. */

import { expect, test } from "vitest";
import { mount } from "../../src/app.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { Store } from "../../src/data/store.ts";
import { Scope } from "../../src/scheduling/scope.ts";
import type { Choices } from "../../src/state/choices.ts";
import { createState, type State } from "../../src/state/state.ts";
import { eventually } from "../support/eventually.ts";
import { sourceOf } from "../support/mounted.ts";
import { expectNoProblems } from "../support/problems.ts";
import { bytes, RECORD } from "../support/vectors.ts";
import { CAMPAIGN_PATIENCE, campaign } from "./campaign.ts";
import { jsonOf, oneOf } from "./mutate.ts";

expectNoProblems();

const GIVEN = { layer: 2, heads: [1], query: 3, also: [4], muted: [0], include_heads: [0, 1] };

/** Messages in the view, except the one that nothing has arrived yet. */
const SAID = "[role=listbox], [role=grid], [role=alert], .notice";

/** Unlike a message for the reader, never forgiven. */
class Undrawn extends Error {}

async function draw(store: Store, state: State): Promise<void> {
  const parent = document.createElement("div");
  document.body.append(parent);
  const scope = new Scope();
  mount(scope, parent, store, state);
  try {
    const body = parent.firstElementChild?.shadowRoot?.querySelector(".body");
    const said = () => body?.querySelector(SAID)?.textContent ?? "Waiting";
    await eventually(() => expect(said()).not.toMatch(/^Waiting/), { interval: 4 });
    state.hover.value = { query: 0, key: 0 };
    await new Promise((resolve) => requestAnimationFrame(resolve));
    if (body?.textContent.includes("cannot be shown")) throw new Error(body.textContent);
  } finally {
    scope.end();
    parent.remove();
  }
}

test("views", { timeout: CAMPAIGN_PATIENCE }, () =>
  campaign("views", 200, async (random) => {
    const whole = random() < 0.5;
    const manifest = readManifest(whole ? RECORD.manifest : jsonOf(RECORD.manifest, random));
    const state = createState(manifest, {
      ...((whole ? jsonOf(GIVEN, random) : GIVEN) as Partial<Choices>),
      view: oneOf(random, ["head", "model", "neuron"] as const),
      words: random() < 0.5,
    });
    const overview = new Uint8Array(bytes(RECORD.overview).length * 64);
    const store = new Store(manifest, overview, sourceOf());
    try {
      await draw(store, state);
    } catch (error) {
      throw new Undrawn(`${error instanceof Error ? error.stack : error}`);
    }
    return true;
  }),
);
