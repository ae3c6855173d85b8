// Plugins for esbuild and vite: the module "inline:kernels" and minified styles.
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const local = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Without a runtime: kernels work in a memory that the page provides. */
const ASC = ["-O3", "--converge", "--noAssert", "--runtime=stub", "--importMemory"];

const LOOPS = "src/kernels/loops";

async function kernels() {
  const files = [];
  let binary;
  const { error, stderr } = await asc.main(
    [`${LOOPS}/index.ts`, ...ASC, "--enable=simd", "--disableWarning=112", "--outFile=loops.wasm"],
    {
      readFile(name) {
        // WebAssembly has lanes of its own. AssemblyScript appends ".ts" to every name.
        const source = name
          .replace(/\.ts\.ts$/, ".ts")
          .replace(`${LOOPS}/lanes.ts`, "assembly/lanes.ts");
        if (!existsSync(local(source))) return null;
        files.push(local(source));
        // It has the builtins, too.
        const code = readFileSync(local(source), "utf8");
        return code.replace(/^import [^;]*builtins.ts";$/m, "");
      },
      writeFile(_, contents) {
        binary = contents;
      },
    },
  );
  if (error) throw new Error(`${error.message}\n${stderr}`);
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
