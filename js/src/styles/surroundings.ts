/** The theme, the resolution and the height of the page around a view. */

import { luminance, parseColor } from "./palette.ts";

/**
 * True if the background behind an element is dark.
 *
 * It depends on the visible colour and not on the host's class names: every host has others, and
 * some (VS Code) show widgets on white inside a dark theme.
 */
export function isDark(element: Element): boolean {
  for (let node: Element | null = element; node; node = parent(node)) {
    const [r, g, b, opacity] = parseColor(getComputedStyle(node).backgroundColor);
    if (opacity > 127) return luminance([r, g, b]) < 0.2;
  }
  // A frame without a background shows that of the page around it, which it cannot read (Colab).
  return isForDark(getComputedStyle(parent(element) ?? element).color);
}

/** True if text of this colour is meant for a dark background. */
export function isForDark(color: string): boolean {
  const [r, g, b] = parseColor(color);
  return luminance([r, g, b]) > 0.4;
}

function parent(node: Element): Element | null {
  if (node.parentElement) return node.parentElement;
  const root = node.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

/** Call `changed` whenever the surroundings may have changed colour. */
export function watchSurroundings(changed: () => void, signal: AbortSignal): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed, { signal });
  // Hosts switch themes by an attribute or a class of <html> or <body>, before they repaint.
  const observer = new MutationObserver(() => requestAnimationFrame(changed));
  for (const node of [document.documentElement, document.body]) {
    observer.observe(node, { attributes: true });
  }
  signal.addEventListener("abort", () => observer.disconnect());
}

/** Call `changed` when the pixels per CSS pixel change: on zoom, or on another screen. */
export function watchResolution(changed: () => void, signal: AbortSignal): void {
  const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  const next = () => {
    changed();
    watchResolution(changed, signal);
  };
  query.addEventListener("change", next, { signal, once: true });
}

/** The height of a browser's own bars, which a frame cannot know, in CSS pixels. */
const BROWSER = 140;

/** The height in which all of a frame is in sight, if the page around it tells it. */
let windowHeight: number | null = null;

/** Set the height in which all of the frame of this page is in sight, in CSS pixels. */
export function setWindowHeight(height: number): void {
  if (height === windowHeight) return;
  windowHeight = height;
  dispatchEvent(new Event("resize"));
}

/** The height in which all of a view is in sight, in CSS pixels. */
export function visibleHeight(): number {
  // In print, nothing scrolls.
  if (matchMedia("print").matches) return Number.POSITIVE_INFINITY;
  if (windowHeight !== null) return windowHeight;
  // Many hosts make a frame as high as its content, so its own height says nothing.
  return window.parent === window ? innerHeight : screen.availHeight - BROWSER;
}
