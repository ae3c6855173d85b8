/** The effect of heads that are off: a kernel's reply. See docs/protocol.md. */

import * as check from "../basics/check.ts";

/** The change of one prediction: its probability and its rank among all, from 1. */
export interface Change {
  readonly label: string;
  readonly before: number;
  readonly after: number;
  readonly rank_before: number;
  readonly rank_after: number;
}

/** The effect on predictions at one position of the model's output. */
export interface PredictionEffect {
  /** The next token, the token at the position, or the class of the text. */
  readonly predicts: "next" | "token" | "class";
  readonly position: number;
  /** The token at the position; "" for a class. */
  readonly label: string;
  /** The number of positions of the output. */
  readonly positions: number;
  /** The KL divergence of the predictions after from those before, in nats; and its mean. */
  readonly divergence: number;
  readonly mean: number;
  readonly changes: readonly Change[];
}

/** The effect on the hidden states of a model that makes no predictions. */
export interface StateEffect {
  readonly predicts: null;
  readonly positions: number;
  /** One minus the cosine of the states before and after: the mean of all positions. */
  readonly mean: number;
  /** The positions that turned most, in the order of the text. */
  readonly moved: readonly {
    readonly position: number;
    readonly label: string;
    readonly moved: number;
  }[];
}

export type Effect = PredictionEffect | StateEffect;

const index = check.integer(0);
const PREDICTIONS = check.fields({
  predicts: check.oneOf(["next", "token", "class"]),
  position: index,
  label: check.text(),
  positions: index,
  divergence: check.number,
  mean: check.number,
  changes: check.list(
    check.fields({
      label: check.text(),
      before: check.number,
      after: check.number,
      rank_before: check.integer(1),
      rank_after: check.integer(1),
    }),
    check.integer(1),
  ),
});
const STATES = check.fields({
  predicts: check.oneOf([null]),
  positions: index,
  mean: check.number,
  moved: check.list(check.fields({ position: index, label: check.text(), moved: check.number })),
});

/** Check a kernel's reply, and throw if it is damaged. */
export function readEffect(sent: unknown): Effect {
  const wrong = check.either(PREDICTIONS, STATES)(sent);
  if (wrong !== null) throw new Error(wrong);
  return sent as Effect;
}
