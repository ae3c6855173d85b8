/** The menu that copies the numbers of the view as tab-separated text, the status line, or the link to a place. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { Scope } from "../scheduling/scope.ts";
import { dialog } from "./dialog.ts";
import { el } from "./dom.ts";
import { type MenuItem, menuButton } from "./menu.ts";
import { type Table, tsv } from "./table.ts";
import { type Phrase, spoken } from "./text.ts";

const ELSEWHERE = ", for this computer; what is after # works in any copy of the page";

/**
 * @param status what the line below the view says
 * @param say shows a message to the reader
 * @param link returns the link to what is shown, where there is one
 */
export function copyMenu(
  scope: Scope,
  tables: ReadonlySignal<readonly Table[]>,
  status: ReadonlySignal<Phrase>,
  say: (text: string) => void,
  link?: () => string,
) {
  const box = el("textarea", { "aria-label": "Text", readonly: true, rows: 10 });
  const reason = el("p", {});
  const byHand = dialog("Copy by hand", reason, box);

  async function copyAs(name: string, text: string, done = ""): Promise<void> {
    try {
      await copyText(text, element);
    } catch (error) {
      const why = error instanceof Error ? error.message : `${error}`;
      say(`${name} not copied: ${why}`);
      reason.textContent = `The browser does not allow copying: ${why}. Copy the selected text yourself.`;
      box.value = text;
      byHand.toggle(true);
      // Not with `autofocus`, which browsers ignore in a frame of another origin.
      box.focus();
      box.select();
      return;
    }
    say(`${name} copied${done}`);
  }

  function copy({ name, rows }: Table): Promise<void> {
    const all = rows();
    // Without the header.
    const lines = all.length - 1;
    return copyAs(name, tsv(all), `: ${lines} ${lines === 1 ? "line" : "lines"}`);
  }

  const copyLink = (text: string) =>
    // A page on a disk has an address there only.
    copyAs("Link", text, text.startsWith("file:") ? ELSEWHERE : "");

  const links: readonly MenuItem[] = link
    ? [{ name: "Link to this place", choose: () => void copyLink(link()) }]
    : [];

  const menu = menuButton(scope, {
    name: "Copy",
    title: `Copy numbers for a spreadsheet (c)${link ? ", or a link" : ""}`,
    icon: () => "copy",
    items: () => {
      const items: MenuItem[] = tables.value.map((table) => ({
        name: table.name,
        choose: () => void copy(table),
      }));
      const text = spoken(status.value);
      if (text) items.push({ name: "As text", choose: () => void copyAs("Text", text) });
      return [...items, ...links];
    },
  });
  const element = el("div", { class: "copy" }, menu, byHand.element);
  return {
    element,
    first() {
      const [table] = tables.peek();
      if (table) copy(table);
    },
  };
}

/**
 * Copy `text` to the clipboard, also in browsers without the Clipboard API.
 *
 * @param within a visible element for a temporary textarea, which `execCommand` copies from
 * @throws if neither way is allowed
 */
async function copyText(text: string, within: HTMLElement): Promise<void> {
  try {
    // `navigator.clipboard` is missing in insecure contexts.
    if (!navigator.clipboard) throw new Error("the page is not served securely");
    if (isForbidden()) throw new Error("the frame of the view may not use the clipboard");
    await navigator.clipboard.writeText(text);
  } catch (error) {
    // Forbidden, as in a frame without permission.
    if (!copySelected(text, within)) throw error;
  }
}

/** True if a browser reports that the frame lacks permission: trying would log an error. */
function isForbidden(): boolean {
  const { featurePolicy } = document as {
    featurePolicy?: { allowsFeature(name: string): boolean };
  };
  return featurePolicy?.allowsFeature("clipboard-write") === false;
}

function copySelected(text: string, within: HTMLElement): boolean {
  const active = (within.getRootNode() as ShadowRoot | Document).activeElement;
  const box = document.createElement("textarea");
  box.value = text;
  box.readOnly = true;
  box.className = "unseen";
  within.append(box);
  try {
    box.select();
    return document.execCommand("copy");
  } finally {
    box.remove();
    (active as HTMLElement | null)?.focus();
  }
}
