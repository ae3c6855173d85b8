/** Numbers that the reader can take along: a table, as tab-separated text. */

export type Cells = readonly (string | number)[];

export interface Table {
  /** Its name in the menu, e.g. "Row". */
  readonly name: string;
  /** The column headers first. Computed when asked for: a matrix may be large. */
  rows(): readonly Cells[];
}

/** As spreadsheets and `pandas.read_csv(sep="\t")` read it. */
export function tsv(rows: readonly Cells[]): string {
  return rows.map((row) => `${row.map(cell).join("\t")}\n`).join("");
}

function cell(value: string | number): string {
  // All digits that a single-precision number has.
  if (typeof value === "number")
    return `${Number(value.toPrecision(9))}`.replace("Infinity", "inf");
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  // A label may hold what separates cells, or the quotation mark that would open one.
  return /["\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * What a spreadsheet would compute: behind an apostrophe, it is text. Some take the wide forms of
 * these signs for the same. A sign alone is no formula.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠].|^[\t\r]/su;

const NUMBER = /^[+-]?\d+(\.\d+)?$/;
