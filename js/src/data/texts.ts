/** The texts that queries and keys belong to, and whether the model writes on from them. */

import type { Side, StackInfo, Tokens } from "./manifest.ts";

/** The name of the text of either side; null if both sides are the same text. */
export type Texts = Readonly<Record<Side, string>> | null;

/** A text has the name of the stack that attends within it. */
export function textsOf(stack: StackInfo, stacks: readonly StackInfo[]): Texts {
  if (stack.keys === stack.queries) return null;
  const namesOf = ({ labels }: Tokens) =>
    stacks
      .filter(({ queries, keys }) => queries === keys && `${queries.labels}` === `${labels}`)
      .map(({ name }) => name);
  const crossed = stack.name === "cross";
  // The encoder comes first, if the texts of both are the same.
  return {
    query: namesOf(stack.queries).at(-1) ?? (crossed ? "decoder" : ""),
    key: namesOf(stack.keys)[0] ?? (crossed ? "encoder" : ""),
  };
}

/** True if each query's row goes into the choice of the token after it. */
export const writesOn = (stack: StackInfo, texts: Texts): boolean =>
  typeof stack.queries.generated === "number" ||
  stack.name === "decoder" ||
  texts?.query === "decoder";
