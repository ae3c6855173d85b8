/** Builds what every view says of its numbers: status lines, legends, and tables to copy. */

import type { Table } from "../../parts/table.ts";
import { detail, type Phrase } from "../../parts/text.ts";

/**
 * A status line.
 *
 * @param said whose numbers they are, and those that matter most
 * @param details further numbers, which the tour leaves out
 * @param more remarks, and hints at actions
 */
export function statusLine(
  said: Phrase,
  details: readonly string[] = [],
  more: Phrase = [],
): Phrase {
  const further = details.map((text) => ` · ${text}`).join("");
  return [...said, further ? detail(further) : "", ...more];
}

/** A legend: what colours mean, then remarks, of which those that are empty are left out. */
export function legendLine(
  colors: Phrase,
  remarks: readonly (string | null)[],
  between = " · ",
): Phrase {
  const said = remarks.filter(Boolean).join(between);
  return [...colors, colors.length && said ? `${between}${said}` : said];
}

/** A column of a table: its header, and what it has for a row. */
export interface Column<Row> {
  readonly name: string;
  of(row: Row): string | number;
}

/** A table to copy, by its columns. */
export const tableOf = <Row>(
  name: string,
  rows: readonly Row[],
  columns: () => readonly Column<Row>[],
): Table => ({
  name,
  rows() {
    const all = columns();
    return [all.map((column) => column.name), ...rows.map((row) => all.map(({ of }) => of(row)))];
  },
});
