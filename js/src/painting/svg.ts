/** A painter that draws an SVG, with text as text and lines as lines. */

import { hex, parseColor } from "../styles/palette.ts";
import type { Painter } from "./painter.ts";

const NAMESPACE = "http://www.w3.org/2000/svg";

/** The fonts of the page, then those that most programs have. */
const FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif';

/** The enlargement of bitmaps, so that programs that smooth them blur only the edges of cells. */
const PIXELS_PER_CELL = 4;

/** The distance of control points from the ends of a quarter circle, as a share of the radius. */
const ROUND = 0.5523;

/** Characters that XML cannot hold, among them lone surrogates. */
const UNWRITABLE = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

type Attributes = Readonly<Record<string, string | number | null>>;
type Style = string | CanvasGradient | CanvasPattern;

/** Supports rotation and reflection, but no scaling or shearing: rectangles stay rectangles. */
export class SvgPainter implements Painter {
  globalAlpha = 1;
  fillStyle: Style = "#000";
  strokeStyle: Style = "#000";
  lineWidth = 1;
  imageSmoothingEnabled = true;
  font = "10px sans-serif";
  direction: CanvasDirection = "ltr";
  textAlign: CanvasTextAlign = "start";
  textBaseline: CanvasTextBaseline = "alphabetic";
  private dash: readonly number[] = [];
  private matrix = new DOMMatrix();
  private group: Element;

  readonly #document: XMLDocument;
  readonly #states: object[] = [];
  readonly #colors = new Map<string, readonly [color: string, opacity: number]>();
  readonly #measure = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
  #path = "";
  #ids = 0;

  /**
   * @param title the title for screen readers
   * @param name the prefix of ids, which must be unique if a page shows several pictures
   */
  constructor(
    width: number,
    height: number,
    title: string,
    private readonly name: string,
  ) {
    this.#document = new DOMParser().parseFromString(`<svg xmlns="${NAMESPACE}"/>`, "text/xml");
    this.group = this.#document.documentElement;
    const size = { width: rounded(width), height: rounded(height) };
    const viewBox = `0 0 ${size.width} ${size.height}`;
    setAll(this.group, { viewBox, ...size, "font-family": FONTS });
    this.#add("title", {}).textContent = writable(title);
  }

  /** A standalone document. The serializer escapes all text. */
  toString(): string {
    return new XMLSerializer().serializeToString(this.#document);
  }

  save(): void {
    this.#states.push({ ...this, matrix: DOMMatrix.fromMatrix(this.matrix) });
  }

  restore(): void {
    Object.assign(this, this.#states.pop());
  }

  translate(x: number, y: number): void {
    this.matrix.translateSelf(x, y);
  }

  rotate(angle: number): void {
    this.matrix.rotateSelf((angle * 180) / Math.PI);
  }

  transform(a: number, b: number, c: number, d: number, e: number, f: number): void {
    this.matrix.multiplySelf(new DOMMatrix([a, b, c, d, e, f]));
  }

  setLineDash(dash: readonly number[]): void {
    this.dash = dash;
  }

  createLinearGradient(x0: number, y0: number, x1: number, y1: number): CanvasGradient {
    const [[from, top], [to, bottom]] = [this.#place(x0, y0), this.#place(x1, y1)];
    const id = this.#id();
    const ends = { x1: from, y1: top, x2: to, y2: bottom };
    const gradient = this.#add("linearGradient", { id, gradientUnits: "userSpaceOnUse", ...ends });
    return new Gradient(id, (offset, color) => {
      const [stop, opacity] = this.#color(color);
      this.#add(
        "stop",
        { offset, "stop-color": stop, "stop-opacity": opacityOf(opacity) },
        gradient,
      );
    });
  }

  beginPath(): void {
    this.#path = "";
  }

  moveTo(x: number, y: number): void {
    this.#path += `M${this.#points(x, y)}`;
  }

  lineTo(x: number, y: number): void {
    this.#path += `L${this.#points(x, y)}`;
  }

  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.#path += `C${this.#points(x1, y1, x2, y2, x, y)}`;
  }

  closePath(): void {
    this.#path += "Z";
  }

  rect(x: number, y: number, width: number, height: number): void {
    const [right, bottom] = [x + width, y + height];
    this.#path += `M${this.#points(x, y)}L${this.#points(right, y, right, bottom, x, bottom)}Z`;
  }

  roundRect(x: number, y: number, width: number, height: number, radius = 0): void {
    const r = Math.min(radius, width / 2, height / 2);
    if (r <= 0) {
      this.rect(x, y, width, height);
      return;
    }
    const [right, bottom, near] = [x + width, y + height, r * (1 - ROUND)];
    this.moveTo(x + r, y);
    this.lineTo(right - r, y);
    this.bezierCurveTo(right - near, y, right, y + near, right, y + r);
    this.lineTo(right, bottom - r);
    this.bezierCurveTo(right, bottom - near, right - near, bottom, right - r, bottom);
    this.lineTo(x + r, bottom);
    this.bezierCurveTo(x + near, bottom, x, bottom - near, x, bottom - r);
    this.lineTo(x, y + r);
    this.bezierCurveTo(x, y + near, x + near, y, x + r, y);
    this.closePath();
  }

  clip(rule?: CanvasFillRule | Path2D): void {
    const id = this.#id();
    const shape = this.#add("clipPath", { id });
    this.#add("path", { d: this.#path, "clip-rule": rule === "evenodd" ? rule : null }, shape);
    this.group = this.#add("g", { "clip-path": `url(#${id})` });
  }

  fill(): void {
    this.#add("path", { d: this.#path, ...this.#filled() });
  }

  stroke(): void {
    this.#add("path", { d: this.#path, ...this.#stroked() });
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.#add("rect", { ...this.#box(x, y, width, height), ...this.#filled() });
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.#add("rect", { ...this.#box(x, y, width, height), ...this.#stroked() });
  }

  /** Draw a canvas, or a part of it, into a box. */
  drawImage(image: CanvasImageSource, ...place: number[]): void {
    const source = image as HTMLCanvasElement;
    if (!source.width || !source.height) return;
    const [x, y, width, height] = place.slice(-4);
    const part = place.length > 4 ? place.slice(0, 4) : [0, 0, source.width, source.height];
    const cells = !this.imageSmoothingEnabled;
    this.#add("image", {
      ...this.#placed(x, y),
      width,
      height,
      preserveAspectRatio: "none",
      style: cells ? "image-rendering:pixelated" : null,
      href: address(source, part, cells && width > part[2] ? PIXELS_PER_CELL : 1),
      opacity: opacityOf(this.globalAlpha),
    });
  }

  measureText(text: string): TextMetrics {
    return this.#measured(text, this.textBaseline);
  }

  fillText(text: string, x: number, y: number): void {
    const [, style, weight, size] =
      /^(italic )?(?:normal )?(\w+ )?([\d.]+)px/.exec(this.font) ?? [];
    const rtl = this.direction === "rtl";
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign as string];
    const turned = { start: "end", middle: "middle", end: "start" }[anchor ?? "start"];
    const element = this.#add("text", {
      ...this.#placed(x, y + this.#toBaseline(text)),
      "font-size": size,
      "font-style": style ? "italic" : null,
      "font-weight": Number.parseInt(weight, 10) > 400 ? weight.trim() : null,
      "text-anchor": (rtl ? turned : anchor) ?? null,
      direction: rtl ? "rtl" : null,
      ...this.#filled(),
      style: "white-space:pre",
    });
    element.textContent = writable(text);
  }

  /** The distance from the text's vertical position to its alphabetic baseline. */
  #toBaseline(text: string): number {
    const above = (baseline: CanvasTextBaseline) =>
      this.#measured(text, baseline).actualBoundingBoxAscent;
    return above("alphabetic") - above(this.textBaseline);
  }

  #measured(text: string, baseline: CanvasTextBaseline): TextMetrics {
    this.#measure.font = this.font;
    this.#measure.textBaseline = baseline;
    return this.#measure.measureText(text);
  }

  #add(name: string, attributes: Attributes, parent: Element = this.group): Element {
    const element = this.#document.createElementNS(NAMESPACE, name);
    setAll(element, attributes);
    parent.append(element);
    return element;
  }

  #id(): string {
    return `${this.name}-${++this.#ids}`;
  }

  #filled(): Attributes {
    return this.#inked("fill", this.fillStyle);
  }

  #stroked(): Attributes {
    return {
      fill: "none",
      ...this.#inked("stroke", this.strokeStyle),
      "stroke-width": this.lineWidth === 1 ? null : this.lineWidth,
      "stroke-dasharray": this.dash.join(" ") || null,
    };
  }

  #inked(attribute: "fill" | "stroke", style: Style): Attributes {
    if (style instanceof Gradient) {
      return { [attribute]: `url(#${style.id})`, opacity: opacityOf(this.globalAlpha) };
    }
    const [color, opacity] = this.#color(style as string);
    return { [attribute]: color, opacity: opacityOf(opacity * this.globalAlpha) };
  }

  /** A CSS colour as "#rrggbb", which all programs know, and an opacity. */
  #color(css: string): readonly [color: string, opacity: number] {
    const cached = this.#colors.get(css);
    if (cached) return cached;
    const numbers = /^rgba?\(([^)]+)\)$/
      .exec(css)?.[1]
      .split(/[ ,/]+/)
      .map(Number);
    const [r, g, b, opacity = 1] = numbers ?? shares(parseColor(css));
    const color = [hex([r, g, b]), opacity] as const;
    this.#colors.set(css, color);
    return color;
  }

  #place(x: number, y: number): [number, number] {
    const { a, b, c, d, e, f } = this.matrix;
    return [a * x + c * y + e, b * x + d * y + f];
  }

  #points(...coordinates: number[]): string {
    const out: string[] = [];
    for (let n = 0; n < coordinates.length; n += 2) {
      for (const part of this.#place(coordinates[n], coordinates[n + 1])) out.push(rounded(part));
    }
    return out.join(" ");
  }

  /** A rectangle by its upper left corner, also under rotation. */
  #box(x: number, y: number, width: number, height: number): Attributes {
    const [[x0, y0], [x1, y1]] = [this.#place(x, y), this.#place(x + width, y + height)];
    return {
      x: Math.min(x0, x1),
      y: Math.min(y0, y1),
      width: Math.abs(x1 - x0),
      height: Math.abs(y1 - y0),
    };
  }

  /** The position of text or a bitmap, with a transform if it is rotated. */
  #placed(x: number, y: number): Attributes {
    const { a, b, c, d, e, f } = this.matrix;
    if (a === 1 && d === 1) return { x: x + e, y: y + f };
    return { x, y, transform: `matrix(${[a, b, c, d, e, f].map(rounded).join(" ")})` };
  }
}

class Gradient implements CanvasGradient {
  constructor(
    readonly id: string,
    readonly addColorStop: (offset: number, color: string) => void,
  ) {}
}

function setAll(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) continue;
    element.setAttribute(name, typeof value === "number" ? rounded(value) : value);
  }
}

/** A part of a canvas as a data URL. */
function address(source: HTMLCanvasElement, part: readonly number[], enlarged: number): string {
  const [x, y, width, height] = part;
  const canvas = document.createElement("canvas");
  canvas.width = width * enlarged;
  canvas.height = height * enlarged;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.imageSmoothingEnabled = false;
  context.drawImage(source, x, y, width, height, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL();
}

const shares = ([r, g, b, opacity]: Uint8ClampedArray) => [r, g, b, opacity / 255];

/** The text in one line, without characters that XML cannot hold. */
const writable = (text: string) => text.replace(UNWRITABLE, "").replace(/[\t\n\r]/g, " ");

const rounded = (value: number) => `${Math.round(value * 100) / 100}`;

const opacityOf = (value: number) => (value >= 1 ? null : `${Number(value.toPrecision(3))}`);
