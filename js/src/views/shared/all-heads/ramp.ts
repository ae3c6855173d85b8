/** Perceptually uniform colours for metrics and layers, with a contrast of 3. */

import { hex, mixed, type Palette } from "../../../styles/palette.ts";

/** A sequential colour ramp from 0 to 1: blue, violet, red, with increasing contrast. */
export function ramp(share: number, { dark }: Palette): string {
  const t = Math.min(Math.max(share, 0), 1);
  const from = (a: number, b: number) => a + t * (b - a);
  return dark
    ? oklch(from(0.6, 0.93), from(0.14, 0.09), from(250, 440))
    : oklch(from(0.63, 0.33), from(0.11, 0.14), from(220, 380));
}

/** A diverging colour ramp: negative (0), grey (0.5), positive (1). */
export function divergingRamp(share: number, { negative, neutral, positive }: Palette): string {
  return mixed(neutral, share < 0.5 ? negative : positive, Math.min(Math.abs(2 * share - 1), 1));
}

const GOLDEN_ANGLE = 137.508;
const LIGHTNESS = {
  light: [0.5, 0.6, 0.4, 0.55],
  dark: [0.72, 0.85, 0.64, 0.79],
} as const;

/** The colour of a layer: distant hues, in different shades where they are close. */
export function layerColor(index: number, { dark }: Palette): string {
  const shades = LIGHTNESS[dark ? "dark" : "light"];
  return oklch(shades[index % shades.length], 0.13, 255 + index * GOLDEN_ANGLE);
}

/** "#rrggbb" of a lightness, chroma and hue in OKLCH (Ottosson 2020), clipped to sRGB. */
function oklch(lightness: number, chroma: number, degrees: number): string {
  const hue = (degrees * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return hex(linear.map((c) => 255 * encoded(c)));
}

const encoded = (c: number) => (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055);
