/** The interface of a view, and of its figures. Views know no notebook: they work in any page. */

import type { ReadonlySignal } from "@preact/signals-core";
import type { Head, Manifest, StackInfo } from "../../data/manifest.ts";
import type { Store } from "../../data/store.ts";
import type { Finds } from "../../parts/find.ts";
import type { Idle, Tab } from "../../parts/header.ts";
import type { Helped } from "../../parts/help.ts";
import type { Table } from "../../parts/table.ts";
import type { Phrase } from "../../parts/text.ts";
import type { Toured } from "../../parts/tour.ts";
import type { Scope } from "../../scheduling/scope.ts";
import type { ViewName } from "../../state/choices.ts";
import type { State } from "../../state/state.ts";
import type { Palette } from "../../styles/palette.ts";

export interface Context {
  /** Ends with the view. */
  readonly scope: Scope;
  readonly store: Store;
  readonly state: State;
  readonly palette: ReadonlySignal<Palette>;
  /** The width of the view in CSS pixels. */
  readonly width: ReadonlySignal<number>;
  /** The height that the view can have without scrolling, in CSS pixels. */
  readonly height: ReadonlySignal<number>;
  /** True while a figure of the view is painted. */
  readonly onPaper: ReadonlySignal<boolean>;
}

/** A view as the app lists it. */
export interface ViewSpec extends Tab, Helped, Toured {
  readonly name: ViewName;
  mount(context: Context): View;
}

/** The content of a view; a view of one layer rebuilds it for every layer. */
export interface ViewContent {
  readonly element: HTMLElement;
  /** The numbers of the focused tokens. */
  readonly status: ReadonlySignal<Phrase>;
  /** The legend of the view, shown after the status. */
  readonly legend: ReadonlySignal<Phrase>;
  /** The tables that can be copied. */
  readonly tables: ReadonlySignal<readonly Table[]>;
  /** The contribution to a figure; null while nothing is shown. */
  figure(): Figure | null;
}

export interface View extends ViewContent {
  /** The view's own controls, for the header. */
  readonly tools: readonly HTMLElement[];
  /** Its finds for the search; tokens where it is missing. */
  readonly finds?: ReadonlySignal<Finds>;
  /** The reason why the steppers of layer and head have no effect; missing where they always have. */
  readonly idle?: ReadonlySignal<Idle>;
  /** Lock the next or the previous of the strongest links or keys; missing where a view has none. */
  readonly jump?: ((by: 1 | -1) => void) | undefined;
  /** The head that is looked at; missing where it is the current one. */
  readonly head?: () => Head;
  /** Release what is locked in this view alone; false if nothing is. */
  readonly release?: () => boolean;
  /** The keys of this view alone, in lower case; missing where a view has none. */
  readonly keys?: Readonly<Record<string, () => void>>;
}

export interface Figure {
  /** The name of the file, without an extension. */
  readonly name: string;
  /** The text above the view. */
  readonly heading: string;
  /** A note below the view: the visible part of a long text, and the model. */
  readonly note: string;
  /** True if the figure shows only the visible part. */
  readonly cropped: boolean;
}

/**
 * A figure, named by what is drawn, which may lag behind the choices.
 *
 * @param of the layer, as "layer-2", or what else is drawn
 */
export function figureOf(
  { stacks, model }: Manifest,
  view: ViewName,
  { name }: StackInfo,
  { of = "", heading = "", note = model, cropped = false } = {},
): Figure {
  const words = ["attention", view, stacks.length > 1 && name, of].filter(Boolean);
  // The name of a stack may have any characters.
  return { name: words.join("-").replace(/[^\p{L}\p{N}]+/gu, "-"), heading, note, cropped };
}
