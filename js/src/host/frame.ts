/** A page in a frame tells the page around it its height, and takes that page's background. */

import { isForDark, setWindowHeight } from "../styles/surroundings.ts";

/** True for the page of a frame of `attnwidget/page/frame.py`; any other page may be in a frame too. */
export const isFramed = (): boolean => "framed" in document.documentElement.dataset;

/** @param content the element that is as high as everything in the page. */
export function followFrame(content: HTMLElement): void {
  const { style } = document.documentElement;
  const tellHeight = () => {
    parent.postMessage({ attnwidget: { height: content.offsetHeight } }, "*");
  };
  new ResizeObserver(tellHeight).observe(content);
  addEventListener("message", ({ source, data }) => {
    const surroundings = data?.attnwidget;
    if (source !== parent || surroundings?.background === undefined) return;
    const { background, color } = surroundings;
    // The theme follows from the background, as in every host. Where the page around has none, the
    // browser's own is seen, and the colour of the text tells whether that is dark.
    const none = background === null;
    style.colorScheme = none ? (isForDark(color) ? "dark" : "light") : "";
    style.backgroundColor = none ? "Canvas" : background;
    if (surroundings.window > 0) setWindowHeight(surroundings.window);
    tellHeight();
  });
  // Either page may load first; each asks the other.
  parent.postMessage({ attnwidget: { ready: true } }, "*");
}
