/** The panel of the opened head, as wide as the view, with a notch towards its cell. */

import { button, el } from "../../parts/dom.ts";
import { described } from "../shared/all-heads/patterns.ts";
import { headName, headTitle } from "../shared/all-heads/status.ts";
import type { Context, ViewContent } from "../shared/view.ts";
import { detail } from "./detail.ts";

export interface PanelOptions {
  readonly context: Context;
  /** The width of the view in CSS pixels. */
  readonly width: number;
  /** Called when the height of the panel changes. */
  resized(): void;
  close(): void;
  /** Go to the head in the head view. */
  enter(): void;
}

export interface Panel {
  readonly element: HTMLElement;
  readonly content: ViewContent;
  /** @param notch the position of the notch, below the middle of the cell */
  place(top: number, notch: number): void;
}

/** The width of the frame on both sides. */
const FRAME = 34;

export function modelPanel({ context, width, resized, close, enter }: PanelOptions): Panel {
  const { scope, state } = context;
  const { views, shown: place } = state;
  const { stack, layer, head } = place;
  const title = el("div", { class: "title" });
  const named = (name: string) => ({ "aria-label": name, title: name });
  const open = "Open in head view";
  const content = detail(context, width - FRAME);
  const region = el(
    "div",
    { role: "region" },
    el(
      "div",
      { class: "panel-header" },
      title,
      ...(views.includes("head") ? [button(named(open), open, enter)] : []),
      button(named("Close"), "✕", close),
    ),
    content.element,
  );
  region.style.width = `${width}px`;
  const notch = el("div", { class: "notch", "aria-hidden": "true" });
  const element = el("div", { class: "opened" }, region, notch);
  let height = 0;
  scope.onResize(region, () => {
    if (height === region.offsetHeight) return;
    height = region.offsetHeight;
    resized();
  });
  scope.effect(() => {
    // The title changes with the content, which waits for its layer.
    const request = context.store.stack(stack.value.name).layer(layer.value.number);
    if (request.value.status === "loading" && title.firstChild) return;
    const shown = { layer: layer.value, head: head.value };
    const pattern = described(context.store.manifest.patterns, shown);
    region.setAttribute("aria-label", `${headName(shown)}, opened`);
    title.replaceChildren(el("strong", {}, headTitle(shown)), `  ${pattern}`);
  });
  return {
    element,
    content,
    place(top, middle) {
      element.style.top = `${top}px`;
      notch.style.left = `${middle}px`;
    },
  };
}
