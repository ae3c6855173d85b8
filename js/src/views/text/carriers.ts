/** The heads that look at a sentence: a grid of all, and the strongest as a list. */

import type { Head } from "../../data/manifest.ts";
import { headPlace } from "../../data/pairing.ts";
import { paintCanvas, strokeBox } from "../../painting/canvas.ts";
import { button, el, tableElement, tableRow } from "../../parts/dom.ts";
import { goTo } from "../../state/navigation.ts";
import { mixed } from "../../styles/palette.ts";
import { headName } from "../shared/all-heads/words.ts";
import type { Context } from "../shared/view.ts";
import type { Reading } from "./reading.ts";
import type { Carrier } from "./shares.ts";

const STRONGEST = 8;
/** Sides of a cell in CSS pixels. */
const CELL = { width: 13, height: 9 } as const;
const LEFT = 24;
const BELOW = 16;

/** The heads that look most. */
export const strongestOf = (all: readonly Carrier[] | null): readonly Carrier[] =>
  [...(all ?? [])].sort((a, b) => b.share - a.share).slice(0, STRONGEST);

export function carrierList(
  { scope, state, palette }: Context,
  { heads, found, alone }: Reading,
): HTMLElement {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const numbers = [...new Set(heads.map(({ layer }) => layer.number))];
  const most = Math.max(...heads.map(({ head }) => head)) + 1;
  const strongest = () => strongestOf(found.value);
  const show = ({ layer, head }: Head) => {
    goTo(state, { layer: layer.number, head });
    alone.value = true;
  };
  const isCurrent = ({ layer, head }: Head) =>
    alone.value && layer.number === state.layer.value && head === state.head.value;
  // Rows are kept, so that what has the focus keeps it.
  const rows = heads.slice(0, STRONGEST).map((_, place) => {
    const go = button({ title: "Show this head alone" }, "", () => {
      const at = strongest()[place];
      if (at) show(heads[at.head]);
    });
    const row = tableRow(go, ["", ""]);
    row.cells[2].className = "range";
    return { go, row };
  });
  const columns = ["head", "share", "elsewhere"];
  const lines = rows.map(({ row }) => row);
  const table = tableElement("The heads that look most", columns, lines);
  scope.effect(() => {
    const now = strongest();
    rows.forEach(({ go, row }, place) => {
      row.hidden = !now[place];
      if (!now[place]) return;
      const { head, share, elsewhere } = now[place];
      const at = heads[head];
      const said = [share.toFixed(2), elsewhere === null ? "–" : elsewhere.toFixed(2)];
      row.classList.toggle("current", isCurrent(at));
      go.textContent = headPlace(at);
      // What is seen is in the name, for those who say it.
      go.ariaLabel = `${headName(at)}, ${headPlace(at)}: ${said[0]}, elsewhere ${said[1]}`;
      said.forEach((each, n) => {
        row.cells[n + 1].textContent = each;
      });
    });
  });
  scope.effect(() => {
    const [all, colors, framed] = [found.value ?? [], palette.value, strongest()];
    const height = numbers.length * CELL.height + BELOW;
    paintCanvas(canvas, LEFT + most * CELL.width, height, (painter) => {
      const box = ({ layer, head }: Head) =>
        [
          LEFT + head * CELL.width,
          numbers.indexOf(layer.number) * CELL.height,
          CELL.width - 1,
          CELL.height - 1,
        ] as const;
      const largest = Math.max(...all.map(({ share }) => share), 1e-6);
      for (const { head, share } of all) {
        painter.fillStyle = mixed(colors.paper, colors.ink, Math.sqrt(share / largest));
        painter.fillRect(...box(heads[head]));
      }
      for (const { head } of framed) {
        strokeBox(painter, box(heads[head]), colors.text, { out: 0.5 });
      }
      const current = heads.find(isCurrent);
      if (current) strokeBox(painter, box(current), colors.accent, { out: 1, line: 2 });
      painter.fillStyle = colors.muted;
      painter.font = "10px system-ui, sans-serif";
      painter.textBaseline = "middle";
      painter.textAlign = "right";
      numbers.forEach((number, at) => {
        if (at % 5 === 0)
          painter.fillText(`${number}`, LEFT - 5, Math.max(6, (at + 0.5) * CELL.height));
      });
      painter.textAlign = "center";
      for (let head = 0; head < most; head += 2) {
        painter.fillText(`${head}`, LEFT + (head + 0.5) * CELL.width, height - BELOW / 2);
      }
    });
  });
  const placeOf = ({ offsetX, offsetY }: MouseEvent) => {
    const [number, head] = [
      numbers[Math.floor(offsetY / CELL.height)],
      Math.floor((offsetX - LEFT) / CELL.width),
    ];
    return heads.find((each) => each.layer.number === number && each.head === head);
  };
  canvas.addEventListener("pointermove", (event) => {
    const at = placeOf(event);
    const own = at && found.peek()?.[heads.indexOf(at)];
    canvas.title = own ? `${headPlace(at)}: ${own.share.toFixed(3)}` : "";
  });
  canvas.addEventListener("click", (event) => {
    const at = placeOf(event);
    if (at) show(at);
  });
  const element = el("div", { class: "carriers" }, canvas, table);
  scope.effect(() => {
    // Its place stays, so that nothing moves while layers are read.
    element.style.visibility = found.value ? "" : "hidden";
  });
  return element;
}
