// Bundles the front end into the Python package: `node build.mjs [--watch]`.
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, context } from "esbuild";
import { minify } from "terser";
import { esbuildInline, esbuildStyles } from "./inline.mjs";

// The limit, since anywidget sends the bundle once per widget, and every exported page embeds it.
const MAX_GZIP_KB = 153;

const local = (path) => fileURLToPath(new URL(path, import.meta.url));

const bundle = (name, format) => ({
  entryPoints: [local(`src/host/${name}.ts`)],
  outfile: local(`../attnwidget/static/${name}.js`),
  format,
  bundle: true,
  minify: true,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  plugins: [esbuildInline, esbuildStyles],
  logLevel: "info",
});

// anywidget imports widget.js as a module; start.js, which unpacks page.js, viewer.js, which does so
// for a file, and page.js are plain scripts, since a page opened from disk cannot import modules.
const bundles = [
  bundle("widget", "esm"),
  ...["start", "viewer", "page"].map((name) => bundle(name, "iife")),
];

/** Bundle, and compress once more by terser, with which gzip makes less of the same code. */
async function bundled(options) {
  await build({ ...options, logLevel: "warning" });
  const module = options.format === "esm";
  const code = readFileSync(options.outfile, "utf8");
  const compress = { toplevel: true, passes: 3 };
  writeFileSync(options.outfile, (await minify(code, { module, compress })).code);
}

function kilobytes({ outfile }) {
  const code = readFileSync(outfile);
  return {
    file: basename(outfile),
    min: code.length / 1024,
    gzip: gzipSync(code, { level: 9 }).length / 1024,
  };
}

if (process.argv.includes("--watch")) {
  for (const options of bundles) await (await context(options)).watch();
} else {
  await Promise.all(bundles.map(bundled));
  for (const { file, min, gzip } of bundles.map(kilobytes)) {
    console.log(`${file}  ${min.toFixed(1)} KB minified, ${gzip.toFixed(1)} KB gzip`);
    if (gzip > MAX_GZIP_KB) {
      console.error(`${file} is over the ${MAX_GZIP_KB} KB (gzip) it may have.`);
      process.exitCode = 1;
    }
  }
}
