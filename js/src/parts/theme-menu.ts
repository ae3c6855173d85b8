/** The menu of themes: light, dark, or that of the page around the view. */

import type { Scope } from "../scheduling/scope.ts";
import { SCHEMA } from "../state/choices.ts";
import type { State } from "../state/state.ts";
import { menuButton } from "./menu.ts";
import { capitalized } from "./text.ts";

export function themeMenu(scope: Scope, state: State): HTMLElement {
  return menuButton(scope, {
    name: "Theme",
    title: "Theme: as the page, light or dark",
    icon: () => state.theme.value,
    items: () =>
      SCHEMA.theme.options.map((theme) => ({
        name: capitalized(theme),
        checked: state.theme.value === theme,
        choose: () => {
          state.theme.value = theme;
        },
      })),
  });
}
