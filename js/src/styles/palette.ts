/** The light and the dark palette, and calculations with colours. */

import colors from "../../../attnwidget/colors.json";

export type RGB = readonly [number, number, number];

/**
 * The colours of a theme. `ink` is that of weight 1 in a matrix, `paper` the background of a
 * thumbnail, `neutral` the middle of a diverging ramp; `patterns` are in the order of the manifest.
 */
export type Palette = Readonly<typeof colors.light> & { readonly dark: boolean };

const LIGHT: Palette = { dark: false, ...colors.light };
const DARK: Palette = { dark: true, ...colors.dark };

export const palette = (dark: boolean): Palette => (dark ? DARK : LIGHT);

export function rgb(hex: string): RGB {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** The first colour mixed with a share of the second. */
export function mixed(from: string, to: string, share: number): string {
  const end = rgb(to);
  return hex(rgb(from).map((part, n) => part + (end[n] - part) * share));
}

/** "#rrggbb" of red, green and blue, which are clamped to 0 to 255. */
export function hex(parts: readonly number[]): string {
  const bytes = Uint8ClampedArray.from(parts);
  return `#${[...bytes].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

export function alpha(hex: string, opacity: number): string {
  return `rgb(${rgb(hex).join(" ")} / ${opacity})`;
}

/** Relative luminance of sRGB, 0 to 1 (WCAG 2). */
export function luminance([r, g, b]: RGB): number {
  const linear = (c: number) => (c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** Red, green, blue and opacity, 0 to 255, of any CSS colour, found by painting a pixel. */
export function parseColor(color: string): Uint8ClampedArray {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  return context.getImageData(0, 0, 1, 1).data;
}
