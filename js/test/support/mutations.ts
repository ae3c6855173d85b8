/** Counts what changes in the page while the pointer moves, which costs a style, a layout or both. */

import { onTestFinished } from "vitest";
import type { App } from "./mounted.ts";

/** Describes each change outside of the elements that `allowed` selects. */
export async function changesIn(
  { shadow }: App,
  allowed: string,
  act: () => Promise<void>,
): Promise<readonly string[]> {
  const found: string[] = [];
  const note = (mutations: readonly MutationRecord[]) => {
    for (const { target, type, attributeName } of mutations) {
      const element = target instanceof Element ? target : target.parentElement;
      if (element?.closest(allowed)) continue;
      found.push(`${attributeName ?? type} of ${element?.localName}.${element?.className}`);
    }
  };
  const observer = new MutationObserver(note);
  observer.observe(shadow, {
    subtree: true,
    attributes: true,
    childList: true,
    characterData: true,
  });
  onTestFinished(() => observer.disconnect());
  await act();
  note(observer.takeRecords());
  observer.disconnect();
  return found;
}
