/** Tables of numbers, and their form as tab-separated text. */

export type Cells = readonly (string | number)[];

export interface Table {
  /** The name in the menu, e.g. "Row". */
  readonly name: string;
  /** The header, then the rows. Computed on demand: a matrix may be large. */
  rows(): readonly Cells[];
}

/** Tab-separated text, as spreadsheets and `pandas.read_csv(sep="\t")` read it. */
export function tsv(rows: readonly Cells[]): string {
  return rows.map((row) => `${row.map(cell).join("\t")}\n`).join("");
}

function cell(value: string | number): string {
  // All digits of single precision.
  if (typeof value === "number")
    return `${Number(value.toPrecision(9))}`.replace("Infinity", "inf");
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  // Quote a label with tabs, line breaks or quotation marks.
  return /["\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Text that a spreadsheet would compute, which an apostrophe prevents. Some accept the wide forms
 * of these signs, too. A single sign is not a formula.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠].|^[\t\r]/su;

const NUMBER = /^[+-]?\d+(\.\d+)?$/;
