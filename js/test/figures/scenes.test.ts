/** The figures of the views hold the shapes that Python makes of the same choices. */

import { effect, signal } from "@preact/signals-core";
import { expect, onTestFinished, test, vi } from "vitest";
import figures from "../../../tests/vectors/figures.json";
import type { Scene } from "../../src/figures/scene.ts";
import type { Choices } from "../../src/state/choices.ts";
import { palette } from "../../src/styles/theme.ts";
import { headView } from "../../src/views/head/head.ts";
import { modelView } from "../../src/views/model/model.ts";
import { neuronView } from "../../src/views/neuron/neuron.ts";
import { stateOf, storeOf } from "../support/choices.ts";
import { sourceOf } from "../support/mounted.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";
import { RECORD } from "../support/vectors.ts";

interface Case {
  readonly choices: Partial<Choices>;
  readonly scene: Scene;
}

type Value = string | number | boolean | readonly number[];
type Values = Readonly<Record<string, Value>>;

const CASES = figures as unknown as readonly Case[];
const VIEWS = { head: headView, model: modelView, neuron: neuronView };

/** What Python leaves out. */
const DEFAULTS: Values = { opacity: 1, line: 1, radius: 0, anchor: "start", bold: false };

/** Three decimals of numbers that go through single precision. */
const NEAR = 0.02;

async function sceneOf(choices: Partial<Choices>): Promise<Scene> {
  const [state, store] = [stateOf(choices), storeOf(RECORD, sourceOf())];
  const context = {
    scope: testScope(),
    state,
    store,
    palette: signal(palette(choices.theme === "dark")),
    width: signal(1100),
  };
  const view = VIEWS[choices.view ?? "head"](context);
  place(view.element);
  // What is opened in the model view comes with its layer.
  const layer = store.layer(state.shown.stack.value.name, state.shown.layer.value.number);
  onTestFinished(effect(() => void layer.value));
  await vi.waitFor(() => {
    expect(layer.value.status).toBe("ready");
    expect(view.figure()).not.toBeNull();
  });
  return view.figure()?.scene as Scene;
}

function numbersOf(value: Value): readonly number[] | null {
  if (typeof value === "number") return [value];
  if (typeof value === "object") return value;
  const color = typeof value === "string" && /^#?((?:[0-9a-f]{6})+)$/.exec(value)?.[1];
  // A colour may round either way.
  return color ? (color.match(/../g) ?? []).map((part) => Number.parseInt(part, 16) * NEAR) : null;
}

function same(actual: Value | undefined, expected: Value | undefined): boolean {
  if (actual === undefined || expected === undefined) return actual === expected;
  const [ours, theirs] = [numbersOf(actual), numbersOf(expected)];
  if (!ours || !theirs) return actual === expected;
  const close = (n: number, at: number) => Math.abs(n - theirs[at]) <= NEAR * 1.01;
  return ours.length === theirs.length && ours.every(close);
}

function differences(actual: object, expected: object): string[] {
  const [ours, theirs] = [actual as Values, expected as Values];
  return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])]
    .filter((name) => !same(ours[name] ?? DEFAULTS[name], theirs[name] ?? DEFAULTS[name]))
    .map((name) => `${name}: ${ours[name]} and not ${theirs[name]}`);
}

test.for(CASES.map(({ choices, scene }) => ({ name: JSON.stringify(choices), choices, scene })))(
  "$name",
  async ({ choices, scene: { shapes, ...expected } }) => {
    const { shapes: drawn, ...own } = await sceneOf(choices);
    const wrong = shapes.flatMap((shape, at) => {
      const found = differences(drawn[at] ?? {}, shape);
      return found.length ? [`${at}, ${shape.kind}: ${found.join("; ")}`] : [];
    });
    expect(wrong.slice(0, 8)).toEqual([]);
    expect(drawn.length).toBe(shapes.length);
    expect(differences(own, expected)).toEqual([]);
  },
);
