/** The menu that copies the numbers of the view as tab-separated text, or the status line. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { Scope } from "../scheduling/scope.ts";
import { dialog } from "./dialog.ts";
import { el } from "./dom.ts";
import { menuButton } from "./menu.ts";
import { type Table, tsv } from "./table.ts";
import { type Phrase, spoken } from "./text.ts";

/**
 * @param status what the line below the view says
 * @param say shows a message to the reader
 */
export function copyMenu(
  scope: Scope,
  tables: ReadonlySignal<readonly Table[]>,
  status: ReadonlySignal<Phrase>,
  say: (text: string) => void,
) {
  const box = el("textarea", { "aria-label": "Numbers", readonly: true, rows: 10 });
  const reason = el("p", {});
  const byHand = dialog("Copy by hand", reason, box);

  async function copy(name: string, text: string, count = ""): Promise<void> {
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
    say(`${name} copied${count}`);
  }

  function copyTable(table: Table): void {
    const rows = table.rows();
    // Without the header.
    const lines = rows.length - 1;
    void copy(table.name, tsv(rows), `: ${lines} ${lines === 1 ? "line" : "lines"}`);
  }

  const menu = menuButton(scope, {
    name: "Copy",
    title: "Copy numbers for a spreadsheet (c)",
    icon: () => "copy",
    items: () => {
      const items = tables.value.map((table) => ({
        name: table.name,
        choose: () => copyTable(table),
      }));
      const text = spoken(status.value);
      if (text) items.push({ name: "As text", choose: () => void copy("Text", text) });
      return items;
    },
  });
  const element = el("div", { class: "copy" }, menu, byHand.element);
  return {
    element,
    first() {
      const [table] = tables.peek();
      if (table) copyTable(table);
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
