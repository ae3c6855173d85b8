/** The light and the dark palette, and calculations with colours. */

export type RGB = readonly [number, number, number];

export interface Palette {
  readonly dark: boolean;
  readonly background: string;
  readonly panel: string;
  readonly border: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly onAccent: string;
  readonly highlight: string;
  /** The colour of weight 1 in a matrix. */
  readonly ink: string;
  /** The background of a thumbnail. */
  readonly paper: string;
  readonly positive: string;
  readonly negative: string;
  /** The middle of a diverging ramp. */
  readonly neutral: string;
  /** Colours of the patterns, in the order of the manifest. */
  readonly patterns: readonly string[];
}

const LIGHT: Palette = {
  dark: false,
  background: "#ffffff",
  panel: "#f4f6f9",
  border: "#dfe2e8",
  text: "#1c2026",
  muted: "#646b78",
  accent: "#2f6fe0",
  onAccent: "#ffffff",
  highlight: "#e2ecfd",
  ink: "#2357ad",
  paper: "#f9fafc",
  positive: "#2166ac",
  negative: "#cf6f0c",
  neutral: "#878c95",
  patterns: ["#2f8a35", "#0b7f8c", "#a04f99", "#2357ad", "#8a6800", "#6b6f76"],
};

const DARK: Palette = {
  dark: true,
  background: "#16181c",
  panel: "#1e2126",
  border: "#363a42",
  text: "#e8eaed",
  muted: "#9ca3ae",
  accent: "#6ea5fd",
  onAccent: "#0c1524",
  highlight: "#25385c",
  ink: "#75a8ff",
  paper: "#1b1e22",
  positive: "#5b9fe8",
  negative: "#f0983a",
  neutral: "#777d87",
  patterns: ["#62bd68", "#4fc1cc", "#cf84c8", "#75a8ff", "#d6b545", "#a3a8b0"],
};

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
