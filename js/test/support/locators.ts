/** The parts of a view by role and name, as a reader finds them. */

import { page } from "vitest/browser";

/** The whole label of a token, of which a narrow column shows a part. */
const label = (option: Element) => option.getAttribute("aria-label") ?? option.textContent;

interface Place {
  getByRole: typeof page.getByRole;
}

/** Within one view, or wherever it is on the page. */
export function parts(within: Place = page) {
  const list = (name: "Queries" | "Keys") => within.getByRole("listbox", { name, exact: true });
  const spin = (name: "Layer" | "Head") => within.getByRole("spinbutton", { name, exact: true });
  const swatches = within.getByRole("group", { name: "Heads" }).getByRole("button");
  return {
    list,
    spin,
    option: (name: "Queries" | "Keys", at: number) => list(name).getByRole("option").nth(at),
    labels: (name: "Queries" | "Keys") => list(name).getByRole("option").elements().map(label),
    /** What is locked. */
    selected: (name: "Queries" | "Keys") =>
      list(name).getByRole("option", { selected: true }).elements().map(label),
    tab: (name: string) => within.getByRole("tab", { name, exact: true }),
    /** The number that a stepper shows. */
    number: (name: "Layer" | "Head") => Number(spin(name).element().getAttribute("aria-valuenow")),
    grid: within.getByRole("grid", { name: "Heads of every layer" }),
    cell: (layer: number, head: number) =>
      within.getByRole("gridcell", { name: `Layer ${layer}, head ${head}`, exact: true }),
    filter: within.getByRole("combobox", { name: "Attention", exact: true }),
    alert: within.getByRole("alert"),
    swatches,
    /** How many heads the layer that is drawn has; 0 while none is. */
    heads: () => swatches.elements().length,
    status: () => within.getByRole("status").element().textContent,
  };
}

/** As Tab would, but at once. */
export const focus = (locator: { element(): Element }) =>
  (locator.element() as HTMLElement).focus();
