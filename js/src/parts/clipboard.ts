/** Text to the clipboard, also where browsers offer only the old way. */

/**
 * Copy `text`.
 *
 * @param within a visible place for a moment's textbox, from which the old way copies.
 * @throws with the reason, where neither way is allowed.
 */
export async function copyText(text: string, within: HTMLElement): Promise<void> {
  try {
    // An insecure context has none.
    if (!navigator.clipboard || isForbidden())
      throw new Error("this page may not use the clipboard");
    await navigator.clipboard.writeText(text);
  } catch (error) {
    // As in a frame without the permission.
    if (!copySelected(text, within)) throw error;
  }
}

/** True where a frame has no permission, as far as browsers say: trying would log an error. */
function isForbidden(): boolean {
  const { featurePolicy } = document as {
    featurePolicy?: { allowsFeature(name: string): boolean };
  };
  return featurePolicy?.allowsFeature("clipboard-write") === false;
}

function copySelected(text: string, within: HTMLElement): boolean {
  const active = (within.getRootNode() as ShadowRoot | Document).activeElement;
  const box = document.createElement("textarea");
  box.value = text;
  box.readOnly = true;
  box.className = "unseen";
  within.append(box);
  try {
    box.select();
    return document.execCommand("copy");
  } finally {
    box.remove();
    (active as HTMLElement | null)?.focus();
  }
}
