/** A button that opens a menu below it. */

import { untracked } from "@preact/signals-core";
import type { Scope } from "../scheduling/scope.ts";
import { el, setAttributes } from "./dom.ts";
import { type IconName, icon, iconButton } from "./icons.ts";

export interface MenuItem {
  readonly name: string;
  /** For exclusive choices; left out for actions. */
  readonly checked?: boolean;
  choose(): void;
}

interface MenuOptions {
  readonly name: string;
  readonly title: string;
  /** Read inside an effect. */
  icon(): IconName;
  /** Read inside an effect. Without items the button is disabled. */
  items(): readonly MenuItem[];
}

export function menuButton(scope: Scope, options: MenuOptions): HTMLElement {
  const { name, title } = options;
  const button = iconButton({ icon: options.icon(), name, title });
  setAttributes(button, { "aria-haspopup": "menu", "aria-expanded": "false" });
  const list = el("div", { role: "menu", "aria-label": name, hidden: true });
  const element = el("div", { class: "menu" }, button, list);

  const close = (back: boolean) => {
    // Before hiding: a hidden element loses the focus to the page.
    if (back) button.focus();
    list.hidden = true;
    button.setAttribute("aria-expanded", "false");
  };
  const open = (last = false) => {
    // Untracked, so that an open menu does not change.
    const items = untracked(() => options.items());
    if (!items.length) return;
    list.replaceChildren(...items.map((item) => menuItem(item, () => close(true))));
    list.hidden = false;
    button.setAttribute("aria-expanded", "true");
    const choices = list.children;
    const checked = list.querySelector("[aria-checked=true]");
    const first = last ? choices[choices.length - 1] : (checked ?? choices[0]);
    (first as HTMLElement).focus();
  };

  button.addEventListener("click", () => (list.hidden ? open() : close(true)));
  // The press would move the focus, which closes the menu, and the click would open it again.
  button.addEventListener("mousedown", (event) => {
    if (!list.hidden) event.preventDefault();
  });
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    open(event.key === "ArrowUp");
  });
  // Close when the focus leaves.
  element.addEventListener("focusout", (event) => {
    if (!list.hidden && !element.contains(event.relatedTarget as Node | null)) close(false);
  });
  list.addEventListener("keydown", (event) => {
    // Keys belong to the menu while it is open.
    event.stopPropagation();
    const items = [...list.children] as HTMLElement[];
    const at = items.indexOf(event.target as HTMLElement);
    const to = {
      ArrowDown: (at + 1) % items.length,
      ArrowUp: (at - 1 + items.length) % items.length,
      Home: 0,
      End: items.length - 1,
    }[event.key];
    if (event.key === "Tab") return close(true);
    if (event.key === "Escape") close(true);
    else if (event.key === "Enter" || event.key === " ") items[at]?.click();
    else if (to !== undefined) items[to].focus();
    else return;
    event.preventDefault();
  });

  scope.effect(() => {
    button.replaceChildren(icon(options.icon()));
  });
  scope.effect(() => {
    const any = options.items().length > 0;
    // The focused item is about to be removed.
    if (!any && !list.hidden) close(true);
    // Not "disabled", with which the button would lose the focus.
    setAttributes(button, { "aria-disabled": any ? null : "true" });
  });
  return element;
}

function menuItem({ name, checked, choose }: MenuItem, close: () => void): HTMLElement {
  const choice = checked !== undefined;
  const attributes = {
    role: choice ? "menuitemradio" : "menuitem",
    "aria-checked": choice ? `${checked}` : null,
    tabindex: -1,
  };
  // Not a button, which a click does not focus on a Mac, so that the menu would close.
  const item = el("div", attributes, ...(choice ? [icon("check")] : []), name);
  item.addEventListener("click", () => {
    close();
    choose();
  });
  return item;
}
