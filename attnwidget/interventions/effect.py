"""The difference that interventions make in a model's output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import AttentionRecord, Floats

Doubles = NDArray[np.float64]


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
    logits: tuple[Floats, Floats] | None
    states: tuple[Floats, Floats] | None
    metric: tuple[float, float] | None
    record: tuple[AttentionRecord, AttentionRecord] | None
    label: Callable[[int], str]

    @property
    def divergence(self) -> Doubles:
        """KL divergence of the predictions after from those before, in nats, [positions].

        Σ p log (p / q), with p before and q after.

        Raises:
            ValueError: the model makes no predictions.
        """
        before, after = (logits - logits.max(axis=1, keepdims=True) for logits in self._both())
        p = np.exp(before)
        sums = [each.sum(axis=1, dtype=np.float64) for each in (p, np.exp(after))]
        # Classes of no probability, whose logits may be -inf in both, count nothing.
        difference = np.subtract(before, after, out=np.zeros_like(p), where=p > 0)
        shift = np.einsum("ij,ij->i", p, difference, dtype=np.float64)
        divergence: Doubles = shift / sums[0] - np.log(sums[0]) + np.log(sums[1])
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
        p, q = (np.exp(_log_probabilities(logits[None])[0]) for logits in (before, after))
        largest = [np.argsort(-each, kind="stable")[:count] for each in (before, after)]
        shown = dict.fromkeys(np.concatenate(largest).tolist())
        changes = [
            Change(self.label(n), float(p[n]), float(q[n]), _rank(before, n), _rank(after, n))
            for n in shown
        ]
        return sorted(changes, key=lambda change: -max(change.before, change.after))

    def _both(self) -> tuple[Floats, Floats]:
        if self.logits is None:
            raise ValueError("this model makes no predictions: see `moved`")
        return self.logits


def _log_probabilities(logits: Floats) -> Doubles:
    exact = logits.astype(np.float64)
    exact -= exact.max(axis=1, keepdims=True)
    result: Doubles = exact - np.log(np.exp(exact).sum(axis=1, keepdims=True))
    return result


def _rank(logits: Floats, number: int) -> int:
    return int((logits > logits[number]).sum()) + 1
