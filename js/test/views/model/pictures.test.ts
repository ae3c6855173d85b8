/** Canvases that part between rows keep the picture of every row. */

import { afterEach, expect, test } from "vitest";
import type { Paint } from "../../../src/painting/painter.ts";
import { modelPictures, type Pictures } from "../../../src/views/model/pictures.ts";
import { eventually } from "../../support/eventually.ts";
import { expectNoProblems } from "../../support/problems.ts";

expectNoProblems();

const ROWS = 9;
const ROW_PITCH = 10.3;
const SPACE = 50;

afterEach(() => document.body.replaceChildren());

function mounted(): Pictures {
  const pictures = modelPictures(ROWS, { pictures: 12, rowPitch: ROW_PITCH });
  document.body.append(pictures.element);
  return pictures;
}

/** Paints each row in a colour of its own. */
const paints = (green: number): Paint[] =>
  Array.from({ length: ROWS }, (_, row) => (painter) => {
    painter.fillStyle = `rgb(${20 * row}, ${green}, 0)`;
    painter.fillRect(0, 0, 12, ROW_PITCH);
  });

/** The red and green of the middle of each row, and the rows with space below. */
function seen({ element }: Pictures) {
  const colors: number[][] = [];
  const gaps: number[] = [];
  for (const canvas of element.querySelectorAll("canvas")) {
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    const rows = Math.round(Number.parseFloat(canvas.style.height) / ROW_PITCH);
    for (let row = 0; row < rows; row++) {
      const y = Math.floor(((row + 0.5) * canvas.height) / rows);
      colors.push([...context.getImageData(4, y, 1, 1).data.slice(0, 2)]);
    }
    if (canvas.style.marginBottom === `${SPACE}px`) gaps.push(colors.length - 1);
  }
  return { colors, gaps };
}

const colored = (green: number) => Array.from({ length: ROWS }, (_, row) => [20 * row, green]);

test("rows are painted, and stay as they are wherever a gap opens", async () => {
  const pictures = mounted();
  pictures.fill(paints(100));
  await eventually(() => expect(seen(pictures)).toEqual({ colors: colored(100), gaps: [] }));
  for (const row of [1, 2, 3, 6, 8, 0]) {
    pictures.setGap(row, SPACE);
    expect(seen(pictures)).toEqual({ colors: colored(100), gaps: [row] });
  }
  pictures.setGap(null, 0);
  expect(seen(pictures)).toEqual({ colors: colored(100), gaps: [] });
});

test("beside a gap, rows are painted anew", async () => {
  const pictures = mounted();
  pictures.setGap(5, SPACE);
  pictures.fill(paints(100));
  await eventually(() => expect(seen(pictures)).toEqual({ colors: colored(100), gaps: [5] }));
  pictures.fill(paints(200));
  await eventually(() => expect(seen(pictures)).toEqual({ colors: colored(200), gaps: [5] }));
  pictures.setGap(null, 0);
  expect(seen(pictures)).toEqual({ colors: colored(200), gaps: [] });
});

test("a gap that opens while rows are painted leaves none of them out", async () => {
  const pictures = mounted();
  const opening = paints(100).map<Paint>((paint, row) => (painter, ratio) => {
    paint(painter, ratio);
    if (row === 2) pictures.setGap(5, SPACE);
    if (row === 5) pictures.setGap(0, SPACE);
  });
  pictures.fill(opening);
  await eventually(() => expect(seen(pictures)).toEqual({ colors: colored(100), gaps: [0] }));
});
