// Checks that imports go one way: `node rooms.mjs`, a part of `npm run check`.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";

/**
 * The rooms of src/ in the order of the data. A file may import its own room, and those of the lines
 * above; rooms of one line know nothing of each other.
 */
const ORDER = [
  ["basics"],
  ["kernels", "scheduling", "styles"],
  ["painting", "data"],
  ["lenses"],
  ["raster", "state"],
  ["parts"],
  ["views"],
  ["app.ts"],
  ["host"],
];

const src = fileURLToPath(new URL("src", import.meta.url));
const roomOf = (path) => path.split("/")[0];
const levelOf = (path) => ORDER.findIndex((rooms) => rooms.includes(roomOf(path)));

const files = readdirSync(src, { recursive: true })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts"));
for (const path of files) {
  if (levelOf(path) < 0) fail(path, "is in no room of rooms.mjs");
  const code = readFileSync(join(src, path), "utf8");
  for (const [, from] of code.matchAll(/(?:from |import\(?)\s*"(\.[^"]+\.ts)"/g)) {
    const target = join(dirname(path), from);
    if (roomOf(target) === roomOf(path) || levelOf(target) < levelOf(path)) continue;
    fail(path, `imports ${target}, which comes later`);
  }
}

function fail(path, wrong) {
  console.error(`src/${path} ${wrong}: see the order of rooms in js/rooms.mjs.`);
  process.exitCode = 1;
}
