/** The matrix of a figure. */

import { expect, test } from "vitest";
import type { AttentionMatrix } from "../../src/data/attention-matrix.ts";
import { matrixFigure } from "../../src/figures/matrix.ts";
import { Layout, type Shape } from "../../src/figures/scene.ts";
import { palette } from "../../src/styles/theme.ts";
import { axesOf } from "../../src/views/shared/axes.ts";
import { stateOf, storeOf } from "../support/choices.ts";
import { sourceOf } from "../support/mounted.ts";
import { RECORD } from "../support/vectors.ts";

test("a weight above one is as dark as one", () => {
  const [state, store] = [stateOf({}), storeOf(RECORD, sourceOf())];
  const axes = axesOf(state, store.manifest.stacks[0]);
  const matrixFrom = (weight: number): AttentionMatrix => ({
    name: "Head 0",
    head: 0,
    spec: { kind: "head", head: 0 },
    source: null,
    row: () => new Float32Array(axes.key.shown.length).fill(weight),
    column: () => new Float32Array(axes.query.shown.length).fill(weight),
    hasColumns: () => true,
  });
  const cellsOf = (weight: number) => {
    const shapes: Shape[] = [];
    const look = { query: [], key: [] };
    matrixFigure(new Layout(shapes, 0, 0), palette(true), axes, matrixFrom(weight), "", look, null);
    return shapes.find((shape) => shape.kind === "cells");
  };
  expect(cellsOf(2)).toEqual(cellsOf(1));
  expect(cellsOf(1)).not.toEqual(cellsOf(0.5));
});
