/** The pointer and the keyboard on heads, or on cells of a grid. */

interface PointerActions<Head> {
  /** Called for every move; null where there is no head. */
  hover(head: Head | null): void;
  /** Called with null for a click beside all heads. */
  click(head: Head | null): void;
  /** Called for a click with Alt: switches the head off, or on again. */
  switchOff?(head: Head): void;
  /** Called after one `click`. */
  doubleClick(head: Head): void;
}

/** @param heads the element in which heads are hovered, within the one that takes clicks */
export function bindPointer<Head>(
  stage: HTMLElement,
  heads: HTMLElement,
  headAt: (event: MouseEvent) => Head | null,
  { hover, click, switchOff, doubleClick }: PointerActions<Head>,
): void {
  /** The head of the first click, since it may move before the second. */
  let clicked: Head | null = null;
  stage.addEventListener("click", (event) => {
    if (event.detail > 1) return;
    const head = headAt(event);
    clicked = event.altKey ? null : head;
    if (!event.altKey) click(head);
    else if (head) switchOff?.(head);
  });
  stage.addEventListener("dblclick", () => {
    if (clicked) doubleClick(clicked);
  });
  // Not "pointerover", which fires when heads scroll under a pointer at rest, too.
  heads.addEventListener("pointermove", (event) => {
    // A finger would hide the head that it hovers.
    if (event.pointerType !== "touch") hover(headAt(event));
  });
  heads.addEventListener("pointerleave", () => hover(null));
}

interface KeyActions<Head> {
  move(to: Head): void;
  enter(): void;
  /** Called for the space bar, if it does something. */
  toggle?(): void;
  /** Returns false if there is nothing to close or release. */
  escape(): boolean;
}

/**
 * @param stage closes by Escape
 * @param heads the element with the focus, within it, while heads are walked through
 * @param headAfter the head to which a key moves; null for none
 */
export function bindKeys<Head>(
  stage: HTMLElement,
  heads: HTMLElement,
  headAfter: (key: string) => Head | null,
  actions: KeyActions<Head>,
): void {
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const next = event.target === heads ? headAfter(key) : null;
    if (next) actions.move(next);
    // Escape must not release locked tokens here.
    else if (key === "Escape" && actions.escape()) event.stopPropagation();
    else if (event.target !== heads) return;
    else if (key === "Enter") actions.enter();
    else if (key === " " && actions.toggle) actions.toggle();
    // An arrow past the last head must not scroll the page.
    else if (!key.startsWith("Arrow")) return;
    event.preventDefault();
  });
}
