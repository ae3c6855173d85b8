/** The controls of the map. */

import { choice, type Option, toggle } from "../../parts/choice.ts";
import { capitalized } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { NO_SIZE, SIMILARITY } from "../../state/choices.ts";
import type { State } from "../../state/state.ts";
import { colorMenu, metricOptions, shownAs } from "../shared/tools.ts";
import type { MapHeads } from "./heads.ts";

export function mapTools(
  scope: Scope,
  state: State,
  { placing, size, similarity }: MapHeads,
): HTMLElement[] {
  const metrics = () => metricOptions(state.shown.metrics.value);
  const bySimilarity = (): readonly Option[] =>
    similarity.value
      ? [{ value: SIMILARITY, label: "Similarity (MDS)", title: similarity.value.label }]
      : [];
  const places = () => [...metrics(), ...bySimilarity()];
  const sizes = () => [{ value: NO_SIZE, label: "Equal" }, ...metrics()];
  // Another metric may stand in for one that the stack does not have.
  const x = shownAs(state.map_x, () => placing.value.axes?.[0].name ?? SIMILARITY);
  const y = shownAs(state.map_y, () => placing.value.axes?.[1].name ?? "");
  const across = choice(scope, "x", places, x);
  const placeBy = choice(scope, "Place by", places, x);
  const up = choice(scope, "y", metrics, y);
  const named = shownAs(state.map_size, () => size.value?.name ?? NO_SIZE);
  const bySize = choice(scope, "Size", sizes, named);
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
