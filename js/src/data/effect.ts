/** The effect of heads that are off: a kernel's reply. See docs/protocol.md. */

import * as check from "../basics/check.ts";

const index = check.integer(0);

/** The effect on predictions at one position of the model's output. */
const predictions = check.fields({
  /** The next token, the token at the position, or the class of the text. */
  predicts: check.oneOf(["next", "token", "class"]),
  position: index,
  /** The token at the position; "" for a class. */
  label: check.text(),
  /** The number of positions of the output. */
  positions: index,
  /** The KL divergence of the predictions after from those before, in nats; and its mean. */
  divergence: check.number,
  mean: check.number,
  /** The probability of each prediction, and its rank among all, from 1. */
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

/** The effect on the hidden states of a model that makes no predictions. */
const states = check.fields({
  predicts: check.oneOf([null]),
  positions: index,
  /** One minus the cosine of the states before and after: the mean of all positions. */
  mean: check.number,
  /** The positions that turned most, in the order of the text. */
  moved: check.list(check.fields({ position: index, label: check.text(), moved: check.number })),
});

export type PredictionEffect = check.Checked<typeof predictions>;
export type Change = PredictionEffect["changes"][number];
export type StateEffect = check.Checked<typeof states>;
export type Effect = PredictionEffect | StateEffect;

/** Check a kernel's reply, and throw if it is damaged. */
export function readEffect(sent: unknown): Effect {
  const wrong = check.either(predictions, states)(sent);
  if (wrong !== null) throw new Error(wrong);
  return sent as Effect;
}
