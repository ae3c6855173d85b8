// Plugins for esbuild and vite: the module "inline:kernels" and minified styles.
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const local = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Without a runtime: kernels work in a memory that the page provides. */
const ASC = ["-O3", "--converge", "--noAssert", "--runtime=stub", "--importMemory"];

async function kernels() {
  let binary;
  const { error, stderr } = await asc.main(
    [
      "assembly/index.ts",
      ...ASC,
      "--enable=simd",
      "--disableWarning=112",
      "--outFile=kernels.wasm",
    ],
    {
      baseDir: local("."),
      writeFile: (_, contents) => {
        binary = contents;
      },
    },
  );
  if (error) throw new Error(`${error.message}\n${stderr}`);
  const files = readdirSync(local("assembly")).map((name) => local(`assembly/${name}`));
  // A character for a byte, which goes into fewer bytes of gzip than base64. From U+0020 on, few
  // characters need an escape.
  const characters = Array.from(binary, (byte) => String.fromCharCode(byte + 32)).join("");
  const code = `export default ${JSON.stringify(characters)};`;
  return { code, files };
}

const NAME = "inline:kernels";

const STYLES = local("src/styles/css/");

/** Minify the CSS in template strings, which esbuild leaves as they are. */
export const esbuildStyles = {
  name: "styles",
  setup({ esbuild, onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!path.startsWith(STYLES)) return undefined;
      const source = await readFile(path, "utf8");
      const [, before, css, after] = /^([^`]*)`([^`]*)`(.*)$/s.exec(source);
      const { code } = await esbuild.transform(css, { loader: "css", minify: true });
      return { contents: before + JSON.stringify(code) + after, loader: "ts" };
    });
  },
};

export const esbuildInline = {
  name: NAME,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^inline:kernels$/ }, ({ path }) => ({ path, namespace: "inline" }));
    onLoad({ filter: /.*/, namespace: "inline" }, async () => {
      const { code, files } = await kernels();
      return { contents: code, watchFiles: files };
    });
  },
};

export const viteInline = {
  name: NAME,
  resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
  async load(id) {
    if (id !== `\0${NAME}`) return undefined;
    const { code, files } = await kernels();
    for (const file of files) this.addWatchFile(file);
    return code;
  },
};
