/** A page in a frame tells the page around it its height, and takes that page's background. */

/** @param content the element that is as high as everything in the page. */
export function followFrame(content: HTMLElement): void {
  if (parent === window) return;
  const { documentElement } = document;
  documentElement.classList.add("framed");
  const tellHeight = () => {
    parent.postMessage({ attnwidget: { height: content.offsetHeight } }, "*");
  };
  new ResizeObserver(tellHeight).observe(content);
  addEventListener("message", ({ source, data }) => {
    const background: unknown = data?.attnwidget?.background;
    // The theme follows from the background, as in every host.
    if (source !== parent || background === undefined) return;
    if (typeof background === "string") documentElement.style.backgroundColor = background;
    tellHeight();
  });
  // Whichever of the two pages comes to this first, the other one answers.
  parent.postMessage({ attnwidget: { ready: true } }, "*");
}
