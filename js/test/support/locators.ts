/** Locators of the view's controls by role and name. */

import { page } from "vitest/browser";

/** The whole label of a token, which may be shortened. */
const label = (option: Element) => option.getAttribute("aria-label") ?? option.textContent;

interface Place {
  getByRole: typeof page.getByRole;
}

/** Locators in one view, or anywhere on the page. */
export function parts(within: Place = page) {
  const list = (name: "Queries" | "Keys") => within.getByRole("listbox", { name, exact: true });
  const spin = (name: "Layer" | "Head") => within.getByRole("spinbutton", { name, exact: true });
  const swatches = within.getByRole("group", { name: "Heads" }).getByRole("button");
  return {
    list,
    spin,
    option: (name: "Queries" | "Keys", at: number) => list(name).getByRole("option").nth(at),
    labels: (name: "Queries" | "Keys") => list(name).getByRole("option").elements().map(label),
    /** The labels of the locked tokens. */
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
    /** The number of heads of the layer drawn; 0 without one. */
    heads: () => swatches.elements().length,
    status: () => within.getByRole("status").element().textContent,
  };
}

/** Focus an element. */
export const focus = (locator: { element(): Element }) =>
  (locator.element() as HTMLElement).focus();
