/** Helpers for tests of single controls on the page. */

import { onTestFinished } from "vitest";
import { userEvent } from "vitest/browser";

export function place<Type extends HTMLElement>(element: Type): Type {
  document.body.append(element);
  onTestFinished(() => element.remove());
  return element;
}

/** Move the pointer away, which stays where the last test left it. */
export async function restPointer(): Promise<void> {
  const corner = document.createElement("div");
  corner.style.cssText = "position: fixed; right: 0; bottom: 0; width: 4px; height: 4px";
  document.body.append(corner);
  await userEvent.hover(corner);
  corner.remove();
}

/** Wait for everything that waits for a frame or a layout. */
export async function twoFrames(): Promise<void> {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
}
