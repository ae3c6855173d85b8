/** The pictures of a matrix say how much of it they show. */

import { signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { storedMatrix } from "../../../../src/data/attention-matrix.ts";
import { matrixTiles } from "../../../../src/views/shared/matrix/tiles.ts";
import { viewportOf } from "../../../../src/views/shared/matrix/viewport.ts";
import { testScope } from "../../../support/test-scope.ts";

const range = (count: number) => [...Array(count).keys()];

test.for([
  [5, 3000],
  [3000, 5],
] as const)("an overview of %i × %i cells is as coarse as its longer side", ([down, across]) => {
  const cells = { rows: Math.min(down, 32), columns: Math.min(across, 32) };
  const overview = { ...cells, values: new Float32Array(cells.rows * cells.columns) };
  const matrix = { ...storedMatrix("", new Float32Array(), across), overview };
  const viewport = signal(viewportOf({ rows: down, columns: across, available: 600 }, null));
  const [rows, columns] = [range(down), range(across)];
  const tiles = matrixTiles(testScope(), signal(matrix), rows, columns, viewport, 0.5);
  expect(tiles.scale.value).toBe(32 / 3000);
});
