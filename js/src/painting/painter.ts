/** The drawing interface of the views, which canvases and the SVG painter implement. */

export type Painter = Pick<
  CanvasRenderingContext2D,
  | "save"
  | "restore"
  | "translate"
  | "rotate"
  | "transform"
  | "globalAlpha"
  | "fillStyle"
  | "strokeStyle"
  | "lineWidth"
  | "setLineDash"
  | "createLinearGradient"
  | "beginPath"
  | "moveTo"
  | "lineTo"
  | "bezierCurveTo"
  | "rect"
  | "roundRect"
  | "closePath"
  | "clip"
  | "fill"
  | "stroke"
  | "fillRect"
  | "strokeRect"
  | "imageSmoothingEnabled"
  | "drawImage"
  | "font"
  | "direction"
  | "textAlign"
  | "textBaseline"
  | "measureText"
  | "fillText"
>;

/**
 * Draws in CSS pixels.
 *
 * @param ratio pixels per CSS pixel of bitmaps
 */
export type Paint = (painter: Painter, ratio: number) => void;
