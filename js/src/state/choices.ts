/** The choices of the reader, by the names that they have in Python. */

import { SCHEMA } from "./choices.generated.ts";

export { NO_SIZE, PAIR, SCHEMA, SIMILARITY } from "./choices.generated.ts";
export type { Cut, HeadPlace } from "./kinds.ts";

type ChoiceName = keyof typeof SCHEMA;
export type Choices = { [Name in ChoiceName]: (typeof SCHEMA)[Name]["value"] };
export type ViewName = Choices["view"];
export type Segments = Choices["segments"];

export const CHOICES = Object.keys(SCHEMA) as readonly ChoiceName[];
export const VIEWS = SCHEMA.view.options;

/** The choices whose value is one of a few options. */
export type OptionName = {
  [Name in ChoiceName]: (typeof SCHEMA)[Name] extends { readonly options: unknown } ? Name : never;
}[ChoiceName];

/** @param stack the first one shown. */
export const defaults = (stack: string): Choices => ({
  ...(Object.fromEntries(CHOICES.map((name) => [name, SCHEMA[name].value])) as unknown as Choices),
  stack,
});

/** The combination that a choice stands for; null for single heads. */
export function combination(combine: Choices["combine"]) {
  if (combine === "none") return null;
  const how = combine.replace("layers_", "") as "mean" | "max";
  // Of the heads that are drawn, or of every head of all layers.
  return { how, over: how === combine ? "heads" : "layers" } as const;
}
