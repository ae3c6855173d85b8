/** Saves a figure as a reader does, with the key for it. */

import { expect, onTestFinished, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { eventually } from "./eventually.ts";
import type { App } from "./mounted.ts";

/** The figure's SVG. */
export async function saved(app: App): Promise<Element> {
  const files: Blob[] = [];
  const url = vi.spyOn(URL, "createObjectURL").mockImplementation((file) => {
    files.push(file as Blob);
    return "#";
  });
  onTestFinished(() => url.mockRestore());
  app.root.focus();
  await userEvent.keyboard("s");
  await eventually(() => expect(files).toHaveLength(1));
  const svg = await files[0].text();
  return new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
}
