"""The distance of recorded numbers from those of the model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NoReturn

# The route of layers without a softmax that have heads, or sums of their coefficients.
RECURRENCE = "recurrence"


@dataclass(frozen=True)
class Fidelity:
    """The route of a layer's capture, and the errors of the recorded numbers.

    Attributes:
        route: the source of the numbers, e.g. "attention interface" or "given".
        module: the name of the attention module in the model, or "".
        kept: "queries and keys" (weights follow from the score program), "weights" or
            "coefficients".
        weights_error: max |recorded - the model's own| attention weight over the checked rows. For
            a record from arrays, the largest share of a row's attention that queries and keys move
            to other keys than the weights do, also where the weights were kept for that reason.
            None if there is nothing to compare.
        output_error: max |weights . values - the module's real output| over the checked rows,
            relative to the head's largest value; None if there was no output to compare with.
        tolerance: the bound of both errors for the layer to count as exact. It depends on the
            floating-point type that the model computes in, and on the magnitude of its scores.
        rows: the number of query rows that were checked.
        labels: "checked" if the model's inputs leave one way alone to read the layer's stack, its
            axes and its labels, or changed inputs showed which it is; "assumed" if names of modules
            or lengths had to tell. None if it is not known, or labels were given with the numbers.
    """

    route: str
    module: str
    kept: str
    weights_error: float | None
    output_error: float | None
    tolerance: float
    rows: int
    labels: Literal["checked", "assumed"] | None = None

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) for text in (self.route, self.module, self.kept)):
            raise ValueError("a fidelity's route, module and kept must be strings")
        if not all(isinstance(number, (int, float)) for number in (*self._errors, self.tolerance)):
            raise ValueError("a fidelity's errors and tolerance must be numbers")
        # An error is NaN if the numbers could not be compared.
        if not 0 <= self.tolerance < math.inf:
            raise ValueError(f"a fidelity's tolerance is {self.tolerance}; expected 0 or more")
        if type(self.rows) is not int or self.rows < 0:
            raise ValueError(f"a fidelity's rows are {self.rows!r}; expected a number from 0")
        if self.labels not in ("checked", "assumed", None):
            raise ValueError(
                f"a fidelity's labels are {self.labels!r}; expected 'checked', 'assumed' or None"
            )

    @property
    def _errors(self) -> list[float]:
        return [e for e in (self.weights_error, self.output_error) if e is not None]

    # Its name says that the largest is the best, its numbers that it is the worst.
    def __lt__(self, other: object) -> NoReturn:
        """Refuse an order, also to `max`, `min` and `sorted`: say by which number."""
        raise TypeError(
            "a fidelity has several numbers and no order of its own; say which one counts, as "
            "max(record.fidelity['self'], key=lambda each: each.weights_error or 0)"
        )

    __gt__ = __lt__

    @property
    def exact(self) -> bool | None:
        """True if all known errors are within the tolerance; None if none is known."""
        # `not (e > t)` would pass NaN; a check that cannot be computed is a failed check.
        return all(e <= self.tolerance for e in self._errors) if self._errors else None


@dataclass(frozen=True)
class Written:
    """A token that a model has generated.

    Attributes:
        label: its readable text.
        text: what it adds to the text; "" for a special token.
        probability: that the model's own logits gave it, before any temperature or penalty.
        likeliest: the most likely tokens there, as (label, probability).
    """

    label: str
    text: str
    probability: float
    likeliest: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        texts = (self.label, self.text, *(label for label, _ in self.likeliest))
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("the label and the text of a generated token must be strings")
        numbers = (self.probability, *(each for _, each in self.likeliest))
        if not all(isinstance(each, (int, float)) and 0 <= each <= 1 for each in numbers):
            raise ValueError("probabilities of generated tokens must be numbers from 0 to 1")


@dataclass(frozen=True)
class Replay:
    """The distance of a pass over a generated text from the generation of it.

    A model generates a text step by step; a record of it is of one pass over the whole.

    Attributes:
        difference: max |difference| of a logit by which a token was chosen, relative to the largest
            logit.
        tolerance: the largest difference with which an answer is recorded; in half precision, in
            which single tokens may differ, the largest `typical` one.
        reason: why they differ by more than float32 rounds, or "".
        typical: the median over those tokens of |difference| / |logits|, as the lengths of vectors;
            None in records that were saved without it.
        written: the tokens that were generated, also the last one, which the model has not read;
            () where they are not known.
    """

    difference: float
    tolerance: float
    reason: str = ""
    typical: float | None = None
    written: tuple[Written, ...] = ()

    def __post_init__(self) -> None:
        numbers = (self.difference, self.tolerance, self.typical or 0.0)
        if not all(isinstance(number, (int, float)) and number >= 0 for number in numbers):
            raise ValueError("a replay's differences and tolerance must be numbers from 0")
        if not isinstance(self.reason, str):
            raise ValueError("a replay's reason must be a string")
        if not all(isinstance(each, Written) for each in self.written):
            raise ValueError("a replay's written tokens must be of Written")
