/** A grid as it lies beside a record: the place of each cell, its numbers, and the null's range. */

import { largestOf, middleRange } from "../../basics/extremes.ts";
import type { ScoreGrid } from "../../data/manifest.ts";
import type { Table } from "../../parts/table.ts";
import { capitalized, number, type Phrase, strong, token } from "../../parts/text.ts";

export interface Cell {
  readonly row: number;
  readonly column: number;
}

export type GridCells = ReturnType<typeof gridCells>;

export function gridCells(grid: ScoreGrid) {
  const { axes, rows, columns, values, unit, digits, null: random } = grid;
  const known = values.flat().filter((value) => value !== null);
  const range = random && middleRange(random.values.flat().filter((value) => value !== null));
  const written = (value: number | null) =>
    value === null ? "no value" : `${number(value, digits)}${unit && ` ${unit}`}`;
  const between = range?.map(written).join(" … ") ?? "";
  /** The layer, head and position of a cell; null for all of them. */
  const placeOf = ({ row, column }: Cell) => {
    const [, layer, head] = rows[row];
    return {
      layer,
      head: axes[1] === "head" ? column : head,
      position: axes[1] === "position" ? column : null,
    };
  };
  return {
    grid,
    /** The largest magnitude, which has the full colour. */
    peak: largestOf([0, ...known].map(Math.abs)),
    /** The range of 95% of the null's numbers; "" without a null. */
    between,
    written,
    /** True for a number that the null's seldom reach. */
    isOutside: (value: number | null) =>
      range !== null && value !== null && (value < range[0] || value > range[1]),
    placeOf,
    wordsOf(cell: Cell): Phrase {
      const { row, column } = cell;
      const [value, of] = [values[row][column], random?.values[row][column]];
      const places = Object.entries(placeOf(cell)).filter(([, at]) => at !== null);
      const named = places.map(([what, at]) => `${what} ${at}`).join(", ");
      return [
        strong(capitalized(named || rows[row][0])),
        ...(axes[1] === "position" ? [" ", token(columns[column], true)] : []),
        `  ${grid.name} `,
        strong(written(value)),
        ...(of === undefined ? [] : [`   null ${written(of)}`]),
        ...(between ? [` (95% ${between})`] : []),
      ];
    },
    table: {
      name: "Grid",
      rows() {
        const of = axes[1] === "position" ? ["position", "token"] : axes[1] ? [axes[1]] : [];
        const head = [axes[0], ...of, grid.name, ...(random ? ["null"] : [])];
        const cells = values.flatMap((line, row) =>
          line.map((value, column) => [
            rows[row][0],
            ...[column, columns[column]].slice(0, of.length),
            value ?? "",
            ...(random ? [random.values[row][column] ?? ""] : []),
          ]),
        );
        return [head, ...cells];
      },
    } satisfies Table,
  };
}
