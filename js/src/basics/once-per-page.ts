/** Values that all widgets of a page share, each of which may have its own copy of the script. */

const SHARED = Symbol.for("attnwidget.shared");
const page = globalThis as { [SHARED]?: Map<string, unknown> };

/**
 * Make a value for the first widget of the page that asks for it; the others get the same one.
 *
 * @param source the text that it is made from, so that another version makes its own
 */
export function oncePerPage<Value>(source: string, make: () => Value): Value {
  page[SHARED] ??= new Map();
  const shared = page[SHARED];
  if (!shared.has(source)) shared.set(source, make());
  return shared.get(source) as Value;
}
