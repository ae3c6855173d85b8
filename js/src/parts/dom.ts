/** Elements without markup: text goes in as text nodes only, so that no token is ever parsed. */

type Attributes = Record<string, string | number | boolean | null | undefined>;

/** Create an element. A false, null or undefined attribute is left out; true is "". */
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

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : `${value}`);
  }
}

/** Put new content in place of the old, with the focus on the part of the same name, or near it. */
export function replaceContent(parent: HTMLElement, content: HTMLElement): void {
  const root = parent.getRootNode();
  const active = root instanceof ShadowRoot ? root.activeElement : null;
  const name = active && parent.contains(active) ? active.getAttribute("aria-label") : null;
  parent.replaceChildren(content);
  if (!name) return;
  // A name may be a token, and so hold what a selector would be made of.
  const named = [...parent.querySelectorAll<HTMLElement>("[aria-label]")];
  const same = named.find((element) => element.getAttribute("aria-label") === name);
  // Otherwise keys would go to the page around the view.
  (same ?? parent.closest<HTMLElement>("[tabindex]"))?.focus();
}

/** Scroll `scroller`, and nothing around it, until the element can be seen. */
export function revealWithin(scroller: Element | null, element: Element): void {
  if (!scroller) return;
  const [outer, inner] = [scroller.getBoundingClientRect(), element.getBoundingClientRect()];
  if (inner.top < outer.top) scroller.scrollTop += inner.top - outer.top - 8;
  else if (inner.bottom > outer.bottom) scroller.scrollTop += inner.bottom - outer.bottom + 8;
}
