/** A page in a frame tells the page around it its height, and takes that page's background. */

/** @param content the element that is as high as everything in the page. */
export function followFrame(content: HTMLElement): void {
  if (parent === window) return;
  const { documentElement } = document;
  documentElement.classList.add("framed");
  new ResizeObserver(() => {
    parent.postMessage({ attnwidget: { height: content.offsetHeight } }, "*");
  }).observe(content);
  addEventListener("message", ({ source, data }) => {
    const background: unknown = data?.attnwidget?.background;
    // The theme follows from the background, as in every host.
    if (source === parent && typeof background === "string")
      documentElement.style.backgroundColor = background;
  });
}
