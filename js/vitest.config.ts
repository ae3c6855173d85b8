import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { viteInline } from "./inline.mjs";
import { PATIENCE } from "./test/support/patience.ts";

// The last five keep a machine without network from waiting for, or logging, Chromium's own lookups.
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const executablePath = process.env.ATTNWIDGET_BROWSER;

export default defineConfig({
  plugins: [viteInline],
  // The repository root: tests import the vectors that Python's tests read too.
  server: { fs: { allow: [".."] } },
  test: {
    include: ["test/**/*.test.ts"],
    // Only a test that fails waits so long, also on a machine that does much else.
    testTimeout: 2 * PATIENCE,
    hookTimeout: PATIENCE,
    expect: { poll: { timeout: PATIENCE } },
    browser: {
      enabled: true,
      // Files share a frame and the modules in it, which would be imported anew for each otherwise.
      isolate: false,
      headless: true,
      screenshotFailures: false,
      provider: playwright({
        launchOptions: executablePath ? { args, executablePath } : { args },
        // Tests run in a frame, where the height of a view follows from the screen.
        contextOptions: { screen: { width: 1600, height: 1300 } },
      }),
      instances: [{ browser: "chromium" }],
    },
  },
});
