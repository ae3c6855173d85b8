/** Creates elements without markup: text becomes text nodes, so that no token is ever parsed. */

type Attributes = Record<string, string | number | boolean | null | undefined>;

/** Create an element. False, null and undefined attributes are left out; true becomes "". */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/**
 * Create a table with a line of column names.
 *
 * @param label null for a table that has a caption
 */
export function tableElement(
  label: string | null,
  columns: readonly (Node | string)[],
  rows: readonly Node[],
): HTMLTableElement {
  const names = columns.map((name) => el("th", { scope: "col" }, name));
  const head = el("thead", {}, el("tr", {}, ...names));
  return el("table", { "aria-label": label }, head, el("tbody", {}, ...rows));
}

/** Create a row of a table, with its name and cells. */
export const tableRow = (name: Node | string, cells: readonly (Node | string)[]) =>
  el("tr", {}, el("th", { scope: "row" }, name), ...cells.map((each) => el("td", {}, each)));

/** Create an element of an SVG, likewise. */
export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes,
  ...children: Node[]
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** Create a button that calls `onClick`. */
export function button(
  attributes: Attributes,
  content: string,
  onClick: (event: MouseEvent) => void,
): HTMLButtonElement {
  const element = el("button", { type: "button", ...attributes }, content);
  element.addEventListener("click", onClick);
  return element;
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : `${value}`);
  }
}

/** Replace the content of an element, and move the focus to the new element with the same label. */
export function replaceContent(parent: HTMLElement, content: HTMLElement): void {
  const root = parent.getRootNode();
  const active = root instanceof ShadowRoot ? root.activeElement : null;
  const name = active && parent.contains(active) ? active.getAttribute("aria-label") : null;
  parent.replaceChildren(content);
  if (!name) return;
  // Not a selector, since a label may be a token and hold any characters.
  const named = [...parent.querySelectorAll<HTMLElement>("[aria-label]")];
  const same = named.find((element) => element.getAttribute("aria-label") === name);
  // Keep the focus in the view, or keys would go to the page around it.
  (same ?? parent.closest<HTMLElement>("[tabindex]"))?.focus();
}

/** Scroll `scroller`, but nothing around it, until the element is visible. */
export function revealWithin(scroller: Element | null, element: Element): void {
  if (!scroller) return;
  const [outer, inner] = [scroller.getBoundingClientRect(), element.getBoundingClientRect()];
  if (inner.top < outer.top) scroller.scrollTop += inner.top - outer.top - 8;
  else if (inner.bottom > outer.bottom) scroller.scrollTop += inner.bottom - outer.bottom + 8;
}
