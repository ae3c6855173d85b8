/** The model view in a bare page. */

import { expect } from "vitest";
import { parts } from "./locators.ts";
import { type App, type AppOptions, mountApp } from "./mounted.ts";

export async function mountModel(options: AppOptions = {}): Promise<App> {
  const app = await mountApp({ ...options, choices: { view: "model", ...options.choices } });
  await expect.element(parts().grid).toBeInTheDocument();
  return app;
}
