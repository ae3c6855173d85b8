"""The difference that interventions make in a model's output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import AttentionRecord, Floats

Doubles = NDArray[np.float64]

Predicts = Literal["next", "token", "class"]
"""The "next" token of each position, the "token" there, or the "class" of the text."""


class Change(NamedTuple):
    """The change of one prediction.

    Attributes:
        label: the token, or the class.
        before, after: its probability.
        rank_before, rank_after: its rank among all, from 1.
    """

    label: str
    before: float
    after: float
    rank_before: int
    rank_after: int


@dataclass(frozen=True)
class Softmax:
    """The parts of a softmax.

    Attributes:
        exponentials: e to the logits less the largest of their position, [positions, classes].
        sums: of the exponentials of each position.
        log_sums: the logarithm of the sum of e to the logits.
    """

    exponentials: Floats
    sums: Doubles
    log_sums: Doubles

    @classmethod
    def of(cls, logits: Floats) -> Softmax:
        largest = logits.max(axis=1, keepdims=True)
        exponentials = np.exp(logits - largest)
        sums: Doubles = exponentials.sum(axis=1, dtype=np.float64)
        return cls(exponentials, sums, np.log(sums) + largest[:, 0])


@dataclass(frozen=True)
class Effect:
    """A model's output without and with interventions.

    One of `logits` and `states` is known: of a model with a head for predictions, or without.

    Attributes:
        tokens: the labels of the positions of the output; one, "", if it is of the whole text.
        logits: float32 [positions, classes] before and after: of the next token at each position,
            of a masked token there, or of the classes of the text.
        states: float32 [positions, width] before and after, the last hidden states.
        metric: your own number before and after; None without a function.
        record: the attention before and after; None if it was not captured.
        label: returns the label of a class.
    """

    tokens: tuple[str, ...]
    logits: tuple[Floats, Floats] | None = field(repr=False)
    states: tuple[Floats, Floats] | None = field(repr=False)
    metric: tuple[float, float] | None
    record: tuple[AttentionRecord, AttentionRecord] | None
    label: Callable[[int], str] = field(repr=False)

    def __repr__(self) -> str:
        """The change of the output on average and where it is largest, and the prediction there."""
        if self.metric is not None:
            before, after = self.metric
            return f"<Effect: {before:.3g} → {after:.3g}, a change of {after - before:+.3g}>"
        change = self.change
        name, unit = ("moved", "") if self.logits is None else ("KL divergence", " nats")
        said = f"{name} {change.mean():.3g}{unit}"
        most = int(change.argmax())
        if len(change) > 1:
            said += f", the mean of {len(change)} positions; most at {most} "
            said += f"{self.tokens[most]!r}: {change[most]:.3g}"
        if self.logits is not None:
            found = max(self.changes(most), key=lambda each: abs(each.after - each.before))
            said += f", {found.label!r} {found.before:.3g} → {found.after:.3g}"
        return f"<Effect: {said}>"

    @property
    def divergence(self) -> Doubles:
        """KL divergence of the predictions after from those before, in nats, [positions].

        Σ p log (p / q), with p before and q after.

        Raises:
            ValueError: the model makes no predictions.
        """
        before, after = self._both()
        p, q = Softmax.of(before), Softmax.of(after)
        with np.errstate(invalid="ignore"):
            difference = before - after
        # Classes of no probability, whose logits may be -inf in both, count nothing.
        if not np.isfinite(before.min()):
            difference[p.exponentials == 0] = 0
        shift = np.einsum("ij,ij->i", p.exponentials, difference, dtype=np.float64) / p.sums
        divergence: Doubles = shift - p.log_sums + q.log_sums
        # Rounding may leave a little less than zero.
        return np.maximum(divergence, 0)

    @property
    def moved(self) -> Doubles:
        """One minus the cosine of the states before and after, [positions]: 0 if none turned.

        Raises:
            ValueError: the model makes predictions; see `divergence`.
        """
        if self.states is None:
            raise ValueError("this model makes predictions: see `divergence` and `changes`")
        before, after = (states.astype(np.float64) for states in self.states)
        norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
        cosines: Doubles = (before * after).sum(axis=1) / np.maximum(norms, np.finfo(float).tiny)
        return 1 - np.clip(cosines, -1, 1)

    @property
    def change(self) -> Doubles:
        """`divergence` of a model that makes predictions, else `moved`, [positions]."""
        return self.moved if self.logits is None else self.divergence

    def changes(self, position: int = -1, count: int = 10) -> list[Change]:
        """The likeliest predictions before and after, by the larger of both probabilities.

        Args:
            position: in `tokens`.
            count: as many of either, at most.

        Raises:
            ValueError: the model makes no predictions.
            IndexError: there is no such position.
        """
        before, after = (logits[position] for logits in self._both())
        both = (Softmax.of(logits[None].astype(np.float64)) for logits in (before, after))
        p, q = (each.exponentials[0] / each.sums[0] for each in both)
        shown = dict.fromkeys([*largest(before, count), *largest(after, count)])
        changes = [
            Change(self.label(n), float(p[n]), float(q[n]), rank(before, n), rank(after, n))
            for n in shown
        ]
        return sorted(changes, key=lambda change: -max(change.before, change.after))

    def _both(self) -> tuple[Floats, Floats]:
        if self.logits is None:
            raise ValueError("this model makes no predictions: see `moved`")
        return self.logits


def largest(logits: Floats, count: int) -> list[int]:
    """The places of the largest, in order; of equal ones, the first."""
    count = min(count, len(logits))
    least = np.partition(logits, len(logits) - count)[len(logits) - count]
    places = np.flatnonzero(logits >= least)
    largest: list[int] = places[np.argsort(-logits[places], kind="stable")][:count].tolist()
    return largest


def rank(logits: Floats, number: int) -> int:
    """The rank of a class among all, from 1."""
    return int((logits > logits[number]).sum()) + 1
