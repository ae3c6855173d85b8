/** Unique names of tokens: the label, with its position if the label is not unique. */

interface Labelled {
  readonly labels: readonly string[];
}

const cache = new WeakMap<Labelled, readonly string[]>();

/** A unique name for every token: "it", or "it₁₁" if another token is "it", too. */
export function tokenNames(tokens: Labelled): readonly string[] {
  const cached = cache.get(tokens);
  if (cached) return cached;
  const counts = new Map<string, number>();
  for (const label of tokens.labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  const names = tokens.labels.map((label, position) =>
    counts.get(label) === 1 ? label : label + subscript(position),
  );
  cache.set(tokens, names);
  return names;
}

function subscript(number: number): string {
  return [...`${number}`].map((digit) => String.fromCodePoint(0x2080 + Number(digit))).join("");
}
