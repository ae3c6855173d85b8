/** The controls of the map. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { Metric, Similarity } from "../../data/manifest.ts";
import { type Bound, choice, type Option, toggle } from "../../parts/choice.ts";
import { capitalized } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { NO_SIZE, SIMILARITY } from "../../state/choices.ts";
import type { State } from "../../state/state.ts";
import { colorMenu, metricOptions } from "../shared/all-heads/menus.ts";
import type { Placing } from "./placing.ts";

interface MapToolsOptions {
  readonly state: State;
  readonly placing: ReadonlySignal<Placing>;
  readonly size: ReadonlySignal<Metric | null>;
  readonly similarity: ReadonlySignal<Similarity | null>;
}

export function mapTools(
  scope: Scope,
  { state, placing, size, similarity }: MapToolsOptions,
): HTMLElement[] {
  const metrics = () => metricOptions(state);
  const places = (): readonly Option[] => [
    ...metrics(),
    ...(similarity.value
      ? [{ value: SIMILARITY, label: "Similarity (MDS)", title: similarity.value.label }]
      : []),
  ];
  const sizes = () => [{ value: NO_SIZE, label: "Equal" }, ...metrics()];
  /** A choice as it is shown: another metric may stand in for one that the stack does not have. */
  const shown = (name: "map_x" | "map_y" | "map_size", value: () => string): Bound<string> => ({
    get value() {
      return value();
    },
    set value(to) {
      state[name].value = to;
    },
  });
  const x = shown("map_x", () => placing.value.axes?.[0].name ?? SIMILARITY);
  const across = choice(scope, "x", places, x);
  const placeBy = choice(scope, "Place by", places, x);
  const up = choice(
    scope,
    "y",
    metrics,
    shown("map_y", () => placing.value.axes?.[1].name ?? ""),
  );
  const bySize = choice(
    scope,
    "Size",
    sizes,
    shown("map_size", () => size.value?.name ?? NO_SIZE),
  );
  const random = toggle(scope, "", "Show the heads of the null (r)", state.nullShown);
  scope.effect(() => {
    const { axes, nullLabel } = placing.value;
    across.hidden = up.hidden = !axes;
    placeBy.hidden = axes !== null;
    random.hidden = nullLabel === null;
    random.textContent = capitalized(nullLabel ?? "");
  });
  return [across, placeBy, up, colorMenu(scope, state), bySize, random];
}
