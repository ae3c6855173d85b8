/** The menu that copies the numbers of the view as tab-separated text. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { Scope } from "../scheduling/scope.ts";
import { copyText } from "./clipboard.ts";
import { dialog } from "./dialog.ts";
import { el } from "./dom.ts";
import { menuButton } from "./menu.ts";
import { type Table, tsv } from "./table.ts";

export interface Copy {
  readonly element: HTMLElement;
  /** Copies the first table. */
  first(): void;
}

/** @param say shows a message to the reader */
export function copyMenu(
  scope: Scope,
  tables: ReadonlySignal<readonly Table[]>,
  say: (text: string) => void,
): Copy {
  const box = el("textarea", { "aria-label": "Numbers", readonly: true, rows: 10 });
  const reason = el("p", {});
  const byHand = dialog("Copy by hand", reason, box);

  async function copy(table: Table): Promise<void> {
    const rows = table.rows();
    const text = tsv(rows);
    try {
      await copyText(text, element);
    } catch (error) {
      const why = error instanceof Error ? error.message : `${error}`;
      say(`${table.name} not copied: ${why}`);
      reason.textContent = `The browser does not allow copying: ${why}. Copy the selected text yourself.`;
      box.value = text;
      byHand.toggle(true);
      // Not with `autofocus`, which browsers ignore in a frame of another origin.
      box.focus();
      box.select();
      return;
    }
    // Without the header.
    const lines = rows.length - 1;
    say(`${table.name} copied: ${lines} ${lines === 1 ? "line" : "lines"}`);
  }

  const menu = menuButton(scope, {
    name: "Copy",
    title: "Copy numbers for a spreadsheet (c)",
    icon: () => "copy",
    items: () =>
      tables.value.map((table) => ({ name: table.name, choose: () => void copy(table) })),
  });
  const element = el("div", { class: "copy" }, menu, byHand.element);
  return {
    element,
    first() {
      const [table] = tables.peek();
      if (table) void copy(table);
    },
  };
}
