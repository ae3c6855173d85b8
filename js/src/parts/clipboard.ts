/** Copies text to the clipboard, also in browsers without the Clipboard API. */

/**
 * Copy `text`.
 *
 * @param within a visible element for a temporary textarea, which `execCommand` copies from
 * @throws if neither way is allowed
 */
export async function copyText(text: string, within: HTMLElement): Promise<void> {
  try {
    // `navigator.clipboard` is missing in insecure contexts.
    if (!navigator.clipboard) throw new Error("the page is not served securely");
    if (isForbidden()) throw new Error("the frame of the view may not use the clipboard");
    await navigator.clipboard.writeText(text);
  } catch (error) {
    // Forbidden, as in a frame without permission.
    if (!copySelected(text, within)) throw error;
  }
}

/** True if a browser reports that the frame lacks permission: trying would log an error. */
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
