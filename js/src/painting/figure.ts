/** Saves the current view as a file, with a heading above and a caption below it. */

import { BODY_PADDING } from "../styles/style-sheet.ts";
import { canvasRatio } from "./canvas.ts";
import { paintElement } from "./element.ts";
import type { Painter } from "./painter.ts";
import { SvgPainter } from "./svg.ts";

export type FigureKind = "svg" | "png";

export interface FigureOptions {
  /** Has the class "figure" while it is painted. */
  readonly root: HTMLElement;
  /** The scroll container of the view. */
  readonly body: HTMLElement;
  readonly heading: HTMLElement;
  readonly caption: HTMLElement;
  /** True to cut the view off where the body ends; false to paint all of it. */
  readonly cropped: boolean;
  readonly background: string;
  /** The title for screen readers, and the prefix of ids. */
  readonly title: string;
  readonly name: string;
}

/** Pixels per CSS pixel of a PNG, and of bitmaps in an SVG. */
const SHARPNESS = { svg: 1.5, png: 2.5 } as const;

/** Paint the current view now; the file may be ready later. */
export function figure(kind: FigureKind, options: FigureOptions): Promise<Blob> {
  if (kind === "svg") {
    return painted(kind, options, (width, height, paint) => {
      const painter = new SvgPainter(width, height, options.title, options.name);
      paint(painter);
      return Promise.resolve(new Blob([painter.toString()], { type: "image/svg+xml" }));
    });
  }
  // Not drawn from an SVG, which a page whose policy allows no images could not load.
  const canvas = canvasFigure(options);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new Error("the picture is too large for this browser"));
    });
  });
}

/** Paint the current view on a canvas, at the sharpness of a PNG. */
export function canvasFigure(options: FigureOptions): HTMLCanvasElement {
  return painted("png", options, (width, height, paint) => {
    const ratio = canvasRatio(width, height, SHARPNESS.png);
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    context.scale(ratio, ratio);
    paint(context);
    return canvas;
  });
}

/** Call `use` with the figure's size and a function that paints it. */
function painted<Result>(
  kind: FigureKind,
  options: FigureOptions,
  use: (width: number, height: number, paint: (painter: Painter) => void) => Result,
): Result {
  return arranged(options, (blocks) => {
    const width = Math.max(...blocks.map((block) => block.width));
    const height = blocks.reduce((sum, block) => sum + block.height, 0);
    return use(width, height, (painter) => {
      painter.fillStyle = options.background;
      painter.fillRect(0, 0, width, height);
      let top = 0;
      for (const block of blocks) {
        paintBlock(painter, block, top, options.background, SHARPNESS[kind]);
        top += block.height;
      }
    });
  });
}

interface Block {
  readonly element: HTMLElement;
  readonly width: number;
  readonly height: number;
}

function paintBlock(
  painter: Painter,
  { element, width, height }: Block,
  top: number,
  background: string,
  ratio: number,
): void {
  const box = element.getBoundingClientRect();
  painter.save();
  painter.beginPath();
  painter.rect(0, top, width, height);
  painter.clip();
  painter.translate(-box.left, top - box.top);
  paintElement(painter, element, background, ratio);
  painter.restore();
}

/** Call `use` with everything laid out as in the figure; the reader sees nothing of it. */
function arranged<Result>(
  { root, body, heading, caption, cropped }: FigureOptions,
  use: (blocks: readonly Block[]) => Result,
): Result {
  const lines = [...body.querySelectorAll<HTMLElement>(".pairs")];
  const scrolled = [body, ...lines].map((each) => [each, each.scrollLeft, each.scrollTop] as const);
  const { clientWidth, offsetWidth, offsetHeight } = body;
  root.classList.add("figure");
  root.classList.toggle("cropped", cropped);
  root.append(heading, caption);
  try {
    // The width without the scroll bar.
    const across = cropped ? offsetWidth + body.scrollWidth - clientWidth : clientWidth;
    body.style.width = `${across}px`;
    body.style.height = `${offsetHeight}px`;
    const over = body.scrollWidth > body.clientWidth ? BODY_PADDING.x : 0;
    const width = body.scrollWidth + over;
    const view = body.firstElementChild as HTMLElement;
    const height = cropped ? body.clientHeight : view.offsetHeight + 2 * BODY_PADDING.y;
    const words = (element: HTMLElement): Block => {
      element.style.width = `${width}px`;
      return { element, width, height: element.offsetHeight };
    };
    return use([words(heading), { element: body, width, height }, words(caption)]);
  } finally {
    heading.remove();
    caption.remove();
    root.classList.remove("figure", "cropped");
    body.style.width = body.style.height = "";
    for (const [element, left, top] of scrolled) element.scrollTo(left, top);
  }
}
