/** The effect of heads that are off: a kernel's reply. See docs/protocol.md. */

import {
  either,
  fields,
  integer,
  list,
  number,
  oneOf,
  orNull,
  type Read,
  text,
} from "../basics/reader.ts";

const index = integer(0);

/** The effect on predictions at one position of the model's output. */
const predictions = fields({
  /** The next token, the token at the position, or the class of the text. */
  predicts: oneOf(["next", "token", "class"]),
  position: index,
  /** The token at the position; "" for a class. */
  label: text(),
  /** The number of positions of the output. */
  positions: index,
  /** The KL divergence of the predictions after from those before, in nats; and its mean. */
  divergence: number,
  mean: number,
  /** The probability of each prediction, and its rank among all, from 1. */
  changes: list(
    fields({
      label: text(),
      before: number,
      after: number,
      rank_before: integer(1),
      rank_after: integer(1),
    }),
    integer(1),
  ),
});

/** The effect on the hidden states of a model that makes no predictions. */
const states = fields({
  predicts: oneOf([null]),
  positions: index,
  /** One minus the cosine of the states before and after: the mean of all positions. */
  mean: number,
  /** The positions that turned most, in the order of the text. */
  moved: list(fields({ position: index, label: text(), moved: number })),
});

interface OfPage {
  /** Words for the positions that a page has, if that of the locked query is not one of them. */
  readonly only?: string;
}

export type PredictionEffect = Read<typeof predictions> & OfPage;
export type Change = PredictionEffect["changes"][number];
export type StateEffect = Read<typeof states> & OfPage;
export type Effect = PredictionEffect | StateEffect;

/** Read a kernel's reply. */
export const readEffect = either(predictions, states);

/** Read the means of the effects of as many other heads, drawn at random from the same layers. */
export const readOthers = list(number);

/** Read the changes of the log probabilities of an answer's tokens, by cut. */
export const readChanges = list(list(number), integer(1));

/** Read what places of a prompt get as multiples of an even share, by row and sentence. */
export const readRatios = list(list(orNull(number)), integer(1));
export type Ratios = Read<typeof readRatios>;
