/** A page for parts: elements on it for the time of one test, and a pointer out of their way. */

import { onTestFinished } from "vitest";
import { userEvent } from "vitest/browser";

export function place<Type extends HTMLElement>(element: Type): Type {
  document.body.append(element);
  onTestFinished(() => element.remove());
  return element;
}

/** The pointer stays where the last test left it, and hovers whatever appears there. */
export async function restPointer(): Promise<void> {
  const corner = document.createElement("div");
  corner.style.cssText = "position: fixed; right: 0; bottom: 0; width: 4px; height: 4px";
  document.body.append(corner);
  await userEvent.hover(corner);
  corner.remove();
}

/** Until everything that waits for a frame, or for a layout, has run. */
export async function twoFrames(): Promise<void> {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
}
