/** Icons as SVG paths: glyphs such as ⌨ depend on the fonts of the machine. */

import { el, svg } from "./dom.ts";

/** The stroked path of each icon, and the filled one of some, in a square of 16. */
const PATHS = {
  search: ["M11.5 7a4.5 4.5 0 1 1-9 0a4.5 4.5 0 0 1 9 0zM10.5 10.5l3.5 3.5"],
  copy: [
    "M6.5 5.5h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-6a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1z" +
      "M3.5 10.5a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1",
  ],
  download: ["M8 2.5v7.5M4.5 7l3.5 3.5L11.5 7M2.5 13.5h11"],
  keyboard: [
    "M2.5 3.5h11a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1z" +
      "M4.2 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M11.8 6.5h.01M5.5 9.5h5",
  ],
  auto: ["M14 8a6 6 0 1 1-12 0a6 6 0 0 1 12 0z", "M8 2a6 6 0 0 1 0 12z"],
  light: [
    "M11 8a3 3 0 1 1-6 0a3 3 0 0 1 6 0zM8 1.2v1.4M8 13.4v1.4M1.2 8h1.4M13.4 8h1.4" +
      "M3.2 3.2l1 1M11.8 11.8l1 1M3.2 12.8l1-1M11.8 4.2l1-1",
  ],
  dark: ["M13.5 9.7A6 6 0 0 1 6.3 2.5a6 6 0 1 0 7.2 7.2z"],
  options: [
    "M2 5h6M12.5 5H14M2 11h1.5M8 11h6" +
      "M12.5 5a2.2 2.2 0 1 1-4.4 0a2.2 2.2 0 0 1 4.4 0zM7.9 11a2.2 2.2 0 1 1-4.4 0a2.2 2.2 0 0 1 4.4 0z",
  ],
  power: ["M8 1.8v5.7M4.6 4a5.2 5.2 0 1 0 6.8 0"],
  scissors: [
    "M5.7 4a1.7 1.7 0 1 1-3.4 0a1.7 1.7 0 0 1 3.4 0zM5.7 12a1.7 1.7 0 1 1-3.4 0a1.7 1.7 0 0 1 3.4 0z" +
      "M5.3 5.1l8.4 6.4M5.3 10.9l8.4-6.4",
  ],
  check: ["M3 8.5l3.5 3.5L13 4.5"],
  close: ["M4 4l8 8M12 4l-8 8"],
} as const;

export type IconName = keyof typeof PATHS;

/** An icon in the colour and size of the text, hidden from screen readers. */
export const icon = (name: IconName): SVGSVGElement =>
  svg(
    "svg",
    { viewBox: "0 0 16 16", "aria-hidden": "true" },
    ...PATHS[name].map((d, at) => svg("path", { d, class: at ? "filled" : "stroked" })),
  );

interface IconButtonOptions {
  readonly icon: IconName;
  readonly name: string;
  /** A longer description, shown on hover. */
  readonly title?: string;
}

export function iconButton({ icon: picture, name, title = name }: IconButtonOptions) {
  const attributes = { type: "button", class: "icon", "aria-label": name, title };
  return el("button", attributes, icon(picture));
}
