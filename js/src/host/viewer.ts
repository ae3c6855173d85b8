/**
 * The entry point of the viewer: a page without a record, which opens files of its reader's.
 *
 * It makes of a file what the page of a record has in it, and then starts the same program.
 */

import { el } from "../parts/dom.ts";
import { startProgram, textOf } from "./program.ts";
import { type Elsewhere, NO_RECORD, readRecordFile } from "./record-file.ts";

const NOTE =
  "Opened from a record: its model, map and text views, words and value-weighted norms need Python. " +
  "A page that it writes, as attnwidget view RECORD -o PAGE does, opens here with all of them.";

const JSON_SCRIPT = { type: "application/json" };

/** Put a record into the page. */
async function readRecord(file: Blob): Promise<Element[]> {
  const { manifest, views, blocks } = await readRecordFile(file, JSON.parse(textOf("lenses")));
  const widget = { record: 0, choices: {}, metrics: [], arcs: [], note: NOTE };
  const content = {
    views,
    complete: true,
    records: [{ manifest, overview: null }],
    widgets: [widget],
  };
  const layers = [...blocks].map(([key, block]) => {
    const element: Elsewhere = el("script", {
      ...JSON_SCRIPT,
      "data-record": 0,
      "data-block": key,
    });
    element.block = block;
    return element;
  });
  return [
    el("script", { ...JSON_SCRIPT, "data-content": true }, JSON.stringify(content)),
    ...layers,
  ];
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
let isOpen = false;

async function open(file: Blob, name: string): Promise<void> {
  try {
    // In safetensors, eight bytes of length and a JSON object.
    const isRecord = (await file.slice(8, 9).text()) === "{";
    const parts = await (isRecord ? readRecord(file) : readPage(file));
    document.title = name;
    const again = el("button", { type: "button" }, "Open another");
    again.addEventListener("click", () => location.assign(location.pathname));
    const bar = el("div", { class: "opened" }, el("bdi", {}, name), again);
    document.body.prepend(bar);
    document.body.classList.add("filled");
    document.body.append(...parts);
    isOpen = true;
    await startProgram();
  } catch (error) {
    const why =
      error instanceof SyntaxError || error instanceof TypeError ? "It is damaged." : null;
    fail(`${name} cannot be opened. ${why ?? (error as Error).message}`);
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
  if (file && !isOpen) void open(file, file.name);
});
const asked = new URLSearchParams(location.search).get("record");
if (asked) void openFromAddress(asked);
