/** Scrolls the model view, and nothing around it, to a head. */

const MARGIN = 8;

export interface Revealed {
  readonly scroller: HTMLElement | null;
  readonly cell: HTMLElement;
  /** The panel below the cell, shown as far as the cell stays in sight. */
  readonly below: HTMLElement | null;
  /** The sizes of the sticky header column and row. */
  readonly covered: { readonly left: number; readonly top: number };
  /** True to centre the head, if the view has not scrolled to a head before. */
  readonly first: boolean;
}

export function reveal({ scroller, cell, below, covered, first }: Revealed): void {
  if (!scroller) return;
  const [outer, inner] = [scroller.getBoundingClientRect(), cell.getBoundingClientRect()];
  const [top, bottom] = [outer.top + covered.top + MARGIN, outer.top + scroller.clientHeight];
  const lowest = Math.max(inner.bottom, below?.getBoundingClientRect().bottom ?? 0) + MARGIN;
  const hidden = inner.top < top || lowest > bottom;
  if (first && hidden && !below)
    scroller.scrollTop += (inner.top + inner.bottom - top - bottom) / 2;
  else if (inner.top < top) scroller.scrollTop += inner.top - top;
  else if (lowest > bottom) scroller.scrollTop += Math.min(lowest - bottom, inner.top - top);
  const [left, right] = [outer.left + covered.left + MARGIN, outer.left + scroller.clientWidth];
  if (inner.left < left) scroller.scrollLeft += inner.left - left;
  else if (inner.right + MARGIN > right) scroller.scrollLeft += inner.right + MARGIN - right;
}
