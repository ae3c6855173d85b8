/** An image where it stands in a prompt: one of its grids with a veil, beside small ones of all. */

import { computed, signal } from "@preact/signals-core";
import type { Patches } from "../../data/manifest.ts";
import { type Box, strokeBox } from "../../painting/canvas.ts";
import type { Painter } from "../../painting/painter.ts";
import { toggle } from "../../parts/choice.ts";
import { button, el, replaceContent } from "../../parts/dom.ts";
import { weight } from "../../parts/text.ts";
import { chooser } from "../shared/picture/chooser.ts";
import { marksOf } from "../shared/picture/paint.ts";
import { boxOf, patchAt } from "../shared/picture/places.ts";
import { strongestPatches, tokensOf } from "../shared/picture/shade.ts";
import { stage } from "../shared/picture/stage.ts";
import type { Context } from "../shared/view.ts";
import type { PromptImage } from "./images.ts";
import type { Reading } from "./reading.ts";
import { keysOf, type Part } from "./shares.ts";

/** The widest and the highest picture that is not large, in CSS pixels. */
const WIDE = 322;
const TALL = 400;
/** The number of the strongest patches that are framed. */
const FRAMED = 3;
/** The least height of the list beside it. */
const LEAST_SMALL = 330;

/** What all pictures of a prompt share: what they show, and the parts that are pointed at. */
type Veil = Pick<
  Reading,
  "look" | "lens" | "weights" | "largest" | "patch" | "region" | "outlines"
>;
type Parts = Pick<Reading, "partOf" | "pointed" | "lockPart">;

/** @param take makes the region a part */
export function picture(
  context: Context,
  image: PromptImage,
  reading: Veil & Parts,
  take: () => void,
): HTMLElement {
  const { look, lens, weights, largest, patch, region, outlines } = reading;
  const lock = (token: number) => reading.lockPart(reading.partOf(token));
  const { scope, state, palette, height } = context;
  const { name, grids, start, end } = image;
  const element = el("div", { class: "text-picture", role: "group", "aria-label": name });
  // The text around it has parts of its own.
  for (const kind of ["click", "pointermove"]) {
    element.addEventListener(kind, (event) => event.stopPropagation());
  }
  if (!grids.length) {
    element.append(button({}, name, () => lock(start)));
    return element;
  }
  const [large, room] = [signal(false), signal(WIDE)];
  const shown = computed(() => {
    const chosen = grids.find(({ at }) => at === state.grid.value);
    return chosen ?? grids.find(({ grid }) => grid.name.endsWith("whole")) ?? grids[0];
  });
  const wide = computed(() => {
    const { aspect } = shown.value.grid;
    const most = large.value ? height.value * aspect : Math.min(WIDE, TALL * aspect);
    return Math.round(Math.min(room.value, most));
  });
  const holder = el("div", { class: "pictures" });
  element.append(holder, toggle(scope, "Large", `Show ${name} as wide as the text`, large));
  scope.onResize(holder, () => {
    room.value = holder.clientWidth;
  });
  const cursor = { at: -1 };
  const label = `Grids of ${name}`;
  const total = computed(() => look.value.total);
  scope.scopedEffect((inner) => {
    const [{ at, grid }, width] = [shown.value, wide.value];
    const own = { ...context, scope: inner };
    const tokens = tokensOf(grid);
    const size = { width, height: Math.round(width / grid.aspect) };
    const prefix = [name === "image" ? "" : name, grid.name].filter(Boolean).join(", ");
    const boxesOf = (keys: readonly number[]) =>
      keys.flatMap((key) => {
        const own = grid.of[key];
        return own == null ? [] : [boxOf(own, grid, size)];
      });
    /** The box around a part; null for one that is not on the picture. */
    const around = (part: Pick<Part, "start" | "end" | "keys">): Box | null => {
      const isWhole = !part.keys && part.start <= start && part.end >= end;
      const boxes = isWhole ? [{ left: 0, top: 0, ...size }] : boxesOf(keysOf(part));
      if (!boxes.length) return null;
      const [left, top] = (["left", "top"] as const).map((side) =>
        Math.min(...boxes.map((box) => box[side])),
      );
      const right = Math.max(...boxes.map((box) => box.left + box.width));
      const bottom = Math.max(...boxes.map((box) => box.top + box.height));
      return [left, top, right - left, bottom - top];
    };
    const over = computed(() => {
      const [{ sinks }, drawn] = [look.value, region.value];
      const { muted, accent, background } = palette.value;
      const boxed = drawn && { start: 0, end: 0, ...drawn };
      const all = [...outlines.value, { part: boxed, color: accent, width: 2, dash: [] }];
      return (painter: Painter) => {
        for (const { left, top, width, height } of boxesOf(sinks.flatMap(({ keys }) => keys))) {
          strokeBox(painter, [left, top, width, height], muted, { out: -1, dash: [1, 2] });
        }
        for (const { part, color, width, dash } of all) {
          const box = part && around(part);
          if (!box) continue;
          // On a light edge, as a photograph has any colour.
          strokeBox(painter, box, background, { out: -2, line: width + 3, dash });
          strokeBox(painter, box, color, { out: -2, line: width + 1, dash });
        }
      };
    });
    const rowOf = (patch: number) => Math.floor(patch / grid.columns);
    const columnOf = (patch: number) => patch % grid.columns;
    const draw = (from: number, to: number) => {
      const ends = (of: (patch: number) => number) => [of(from), of(to)].sort((a, b) => a - b);
      const [[top, bottom], [left, right]] = [ends(rowOf), ends(columnOf)];
      const keys = [...tokens]
        .filter((key, each) => {
          const [row, column] = [rowOf(each), columnOf(each)];
          return key >= 0 && row >= top && row <= bottom && column >= left && column <= right;
        })
        .sort((a, b) => a - b);
      const named = (one: string, from: number, to: number) =>
        from === to ? `${one} ${from}` : `${one}s ${from}–${to}`;
      const where = `${named("row", top, bottom)}, ${named("column", left, right)}`;
      region.value =
        keys.length > 1 ? { name: [prefix, where].filter(Boolean).join(": "), keys } : null;
    };
    // The patch at which a region begins.
    let from: number | null = null;
    const framed = (of: Patches) =>
      marksOf(patch.value === null ? [] : [patch.value], of, palette.value.accent, 2);
    const view = stage(own, {
      patches: grid,
      tokens,
      size,
      label: [name, grid.name, `${grid.rows} × ${grid.columns} patches`].filter(Boolean).join(", "),
      cell: `patch-of-${start}`,
      weights,
      largest: () => largest.value,
      marks: computed(() => [
        ...marksOf(
          strongestPatches(weights.value, grid, [], FRAMED),
          grid,
          palette.value.accent,
          1,
        ),
        ...framed(grid),
      ]),
      over,
      focused: computed(() => (patch.value === null ? [] : [patch.value])),
      cursor,
      said: (token) =>
        look.value.counted[token]
          ? `, ${lens.value.one} ${weight(weights.value[token])}`
          : ", a sink",
      isLocked: () => false,
      look(token, event) {
        event.stopPropagation();
        if (event.type === "blur") region.value = null;
        if (event instanceof KeyboardEvent && token !== null) {
          if (!event.shiftKey) region.value = null;
          else {
            if (!region.peek() || from === null) from = grid.of[patch.peek() ?? token] ?? 0;
            draw(from, grid.of[token] ?? 0);
          }
        }
        patch.value = token;
        reading.pointed.value = token === null ? null : reading.partOf(token);
      },
      toggle(token, event) {
        if (!region.peek()) lock(token);
        else if (event instanceof KeyboardEvent) take();
      },
    });
    const placeOf = ({ clientX, clientY }: MouseEvent) => {
      const { left, top } = view.getBoundingClientRect();
      return patchAt(clientX - left, clientY - top, grid, size);
    };
    view.addEventListener("pointerdown", (event) => {
      region.value = null;
      from = placeOf(event);
      view.setPointerCapture(event.pointerId);
    });
    view.addEventListener("pointermove", (event) => {
      if (from !== null && event.buttons) draw(from, placeOf(event));
    });
    // A click has neither moved nor drawn.
    view.addEventListener("click", () => {
      from = null;
      if (region.peek()) take();
    });
    const listed = { label, grids, shown: at, weights, largest, total, marks: framed };
    const small = chooser(own, listed);
    if (small && !large.value) small.style.maxHeight = `${Math.max(size.height, LEAST_SMALL)}px`;
    const content = el("div", {}, view, small ?? "");
    replaceContent(holder, content);
  });
  return element;
}
