/**
 * The entry point of the viewer: a page without a record, which opens files of its reader's.
 *
 * It makes of a file what the page of a record has in it, and then starts the same program.
 */

import { oncePerPage } from "../basics/once-per-page.ts";
import type { Block } from "../data/codec.ts";
import { readManifest } from "../data/read-manifest.ts";
import { Store } from "../data/store.ts";
import { el } from "../parts/dom.ts";
import { type Rules, readProfile } from "./profile-file.ts";
import { startProgram, textOf } from "./program.ts";
import {
  type Elsewhere,
  MANIFEST,
  NO_RECORD,
  type OurFile,
  readFile,
  readRecord,
} from "./record-file.ts";
import { headNumbers, inBrowser, type MetricWords, type ShareRules } from "./record-numbers.ts";

const noteOf = (hasValues: boolean) =>
  `Opened from a record, without what may need Python: the text view${hasValues ? " and value-weighted norms" : ""}. ` +
  "attnwidget view RECORD -o PAGE writes a page with all that the record has.";
const NOTE_OF_PROFILE =
  "Opened from a profile: its texts and the similarity of heads need Python and the model. " +
  "The atlas that attnwidget.save_html writes has them.";

const NO_TEXT = "The file of a profile has no text to show it in: an atlas has some.";

const JSON_SCRIPT = { type: "application/json" };

/** What `attnwidget/page/viewer.py` says of lenses, metrics and patterns. */
interface Known {
  readonly lenses: readonly Readonly<Record<string, unknown>>[];
  readonly metrics: readonly MetricWords[];
  readonly of_profiles: readonly MetricWords[];
  readonly patterns: Rules & ShareRules;
}

/** Put a record or a profile into the page. */
async function readOurs(file: Blob): Promise<Element[]> {
  const known: Known = JSON.parse(textOf("known"));
  const ours = await readFile(file);
  if (ours.kind === "record") return recordOf(ours, known);
  const bytesOf = async (name: string) => (await ours.read(name)).bytes;
  const { lenses, of_profiles, patterns } = known;
  const { manifest, overview } = await readProfile(ours.content, bytesOf, of_profiles, patterns);
  const whole = { version: MANIFEST, lenses: lenses.slice(0, 1), ...manifest };
  const read = readManifest(whole);
  const layers = read.stacks.flatMap(({ name, layers }) =>
    layers.map(({ number }) =>
      layerOf(`${name}.${number}`, () => Promise.reject(new Error(NO_TEXT))),
    ),
  );
  return [contentOf(whole, overview, ["model", "map"], NOTE_OF_PROFILE), ...layers];
}

async function recordOf(ours: OurFile, all: Known): Promise<Element[]> {
  const known = { ...all, metrics: all.metrics.filter(inBrowser) };
  const { manifest, blocks } = await readRecord(ours, known.lenses);
  // The numbers of heads are still to come.
  const values = Object.fromEntries(manifest.stacks.map(numberless));
  const [metric] = known.metrics;
  const metrics = [{ ...metric, signed: false, values }];
  const start = { ...manifest, metrics, patterns: { kinds: [""], values } };
  const read = readManifest(start);
  const store = new Store(read, null, {
    block: (stack, layer) => (blocks.get(`${stack}.${layer}`) as () => Promise<Block>)(),
  });
  const numbers = await headNumbers(read, store, known.metrics, known.patterns, (at, all) => {
    said.textContent = `Reading layer ${at} of ${all} …`;
  });
  const [attention, ...lenses] = known.lenses;
  const scaled = Object.keys(numbers.peaks).length ? { peaks: numbers.peaks } : {};
  const whole = {
    ...{ ...manifest, metrics: numbers.metrics, patterns: numbers.patterns },
    lenses: [{ ...attention, ...scaled }, ...lenses],
  };
  const layers = [...blocks].map(([key, block]) => layerOf(key, block));
  const views = ["head", "model", "neuron", "map"];
  const { stacks }: { stacks: { layers: { arrays: object }[] }[] } = ours.content;
  const hasValues = stacks.some((stack) => stack.layers.some(({ arrays }) => "values" in arrays));
  const note = noteOf(hasValues);
  return [contentOf(whole, numbers.overview, views, note), ...layers];
}

/** An element in place of a block, which stays in the file. */
function layerOf(key: string, block: () => Promise<Block>): Element {
  const element: Elsewhere = el("script", { ...JSON_SCRIPT, "data-record": 0, "data-block": key });
  element.block = block;
  return element;
}

// biome-ignore lint/suspicious/noExplicitAny: of a manifest that is being made.
const numberless = ({ name, layers }: any) => [
  name,
  layers.map(({ heads }: { heads: number }) => Array(heads).fill(0)),
];

/** @param overview the thumbnails, which do not go through text */
function contentOf(manifest: object, overview: Uint8Array, views: string[], note: string) {
  // A page begins with the head view, where its choices say no other.
  const choices = views.includes("head") ? {} : { view: "map" };
  const widget = { record: 0, choices, metrics: [], arcs: [], note };
  // The program asks for what was unpacked of this text.
  const packed = { bytes: overview.length, data: "of the file" };
  void oncePerPage(packed.data, () => Promise.resolve(overview));
  const content = {
    views,
    complete: true,
    records: [{ manifest, overview: packed }],
    widgets: [widget],
  };
  return el("script", { ...JSON_SCRIPT, "data-content": true }, JSON.stringify(content));
}

/** Take over what a saved page has in it; its own scripts do not run. */
async function readPage(file: Blob): Promise<Element[]> {
  const page = new DOMParser().parseFromString(await file.text(), "text/html");
  const parts = page.querySelectorAll(
    "script[type='application/json'][data-content], script[type='application/json'][data-block]",
  );
  if (!page.querySelector("script[data-content]")) throw new Error(NO_RECORD);
  return [...parts].map((part) => document.importNode(part, true));
}

const chooser = document.querySelector<HTMLElement>(".chooser");
const input = document.querySelector<HTMLInputElement>(".chooser input");
const alert = el("p", { role: "alert" });
const said = el("p", { role: "status" });
/** True from when a file is read on. */
let isTaken = false;

async function open(file: Blob, name: string): Promise<void> {
  if (isTaken) return;
  isTaken = true;
  try {
    alert.remove();
    chooser?.append(said);
    // In safetensors, eight bytes of length and a JSON object.
    const isOurs = (await file.slice(8, 9).text()) === "{";
    const parts = await (isOurs ? readOurs(file) : readPage(file));
    document.title = name;
    const again = el("button", { type: "button" }, "Open another");
    again.addEventListener("click", () => location.assign(location.pathname));
    const bar = el("div", { class: "opened" }, el("bdi", {}, name), again);
    document.body.prepend(bar);
    document.body.classList.add("filled");
    document.body.append(...parts);
    await startProgram();
  } catch (error) {
    const isDamaged = [SyntaxError, TypeError, RangeError].some((kind) => error instanceof kind);
    said.textContent = "";
    isTaken = false;
    fail(`${name} cannot be opened. ${isDamaged ? "It is damaged." : (error as Error).message}`);
  }
}

function fail(why: string): void {
  alert.textContent = why;
  chooser?.append(alert);
}

/** Open the file that the address names, which is of the same site: the page's policy allows no other. */
async function openFromAddress(name: string): Promise<void> {
  const address = new URL(name, location.href);
  if (location.protocol === "file:" || address.origin !== location.origin) {
    fail("The address names a file that this page may not read: choose it, or drop it here.");
    return;
  }
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
    await open(await answer.blob(), decodeURIComponent(address.pathname.split("/").at(-1) ?? ""));
  } catch (error) {
    fail(`The file that the address names cannot be read: ${(error as Error).message}`);
  }
}

input?.addEventListener("change", () => {
  const [file] = input.files ?? [];
  if (file) void open(file, file.name);
});
// Elsewhere in the page as well, or the browser would leave it for the file.
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer?.files ?? [];
  if (file) void open(file, file.name);
});
const asked = new URLSearchParams(location.search).get("record");
if (asked) void openFromAddress(asked);
