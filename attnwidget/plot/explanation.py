"""The numbers of the neuron view: from query and key vectors to the weights of one head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats

from .shown import Shown, TokenAxes

Doubles = NDArray[np.float64]

# The share of a key's lead over the mean of the others that the deciding neurons make.
_DECIDING_SHARE = 0.8
# The most vectors from which the colour scale is taken.
_SAMPLE = 128


@dataclass(frozen=True)
class RowNumbers:
    """The numbers of one query with every key.

    Attributes:
        dots: float64 [Tk], q.k.
        scores: float32 [Tk], the input of the softmax; None if it is not recorded.
        weights: float32 [Tk].
        sink: the weight of the head's sink, or None.
    """

    dots: Doubles
    scores: Floats | None
    weights: Floats
    sink: float | None

    @property
    def logits(self) -> NDArray[np.floating]:
        return self.dots if self.scores is None else self.scores


@dataclass(frozen=True)
class QueryNumbers:
    """The numbers of a query with all neurons (`own`) and without the muted ones (`shown`)."""

    query: int
    own: RowNumbers
    shown: RowNumbers
    bias: Floats | None

    def sees(self, key: int) -> bool:
        if self.own.scores is None:
            return bool(self.own.weights[key] > 0)
        return bool(self.own.scores[key] > -np.inf)


class HeadExplanation:
    """The numbers of one head for one query.

    The query is the locked one, or else the first word; with a causal mask, the last word.

    Attributes:
        explanation: the numbers of the query.
        comparison: the numbers of a second locked query, or None.
        focus_key: the locked key, or None.
        key: the locked key, or else the one with the largest weight.
        muted: the neurons left out of q.k.
    """

    def __init__(self, shown: Shown) -> None:
        self.shown, self.layer, self.head = shown, shown.current_layer, shown.head
        self.axes: TokenAxes = shown.single_tokens
        self.queries = np.asarray(self.layer.head_queries(self.head))
        self.keys = np.asarray(self.layer.head_keys(self.head))
        self.dim = self.queries.shape[1]
        self.muted = [n for n in dict.fromkeys(shown.muted) if n < self.dim]
        locked = shown.locked("query")
        query = locked[0] if locked else self._default_query()
        places = self.axes.query.places
        self.query = query if places[query] >= 0 else self.axes.query.shown[0]
        self.explanation = self._explain(self.query)
        second = next((q for q in locked[1:2] if q != self.query and places[q] >= 0), None)
        self.comparison = None if second is None else self._explain(second)
        keys = self.axes.key.units(shown.locked("key"))
        self.focus_key = keys[0] if keys else None
        weights = self.explanation.own.weights
        strongest = max(self.axes.key.shown, key=lambda key: weights[key])
        self.key = strongest if self.focus_key is None else self.focus_key

    @property
    def explained(self) -> list[QueryNumbers]:
        """The numbers of the query, and of the one compared with it."""
        return [self.explanation] + ([self.comparison] if self.comparison is not None else [])

    @property
    def scale(self) -> float:
        return 1.0 if self.layer.program is None else self.layer.program.head_scale(self.head)

    @property
    def sink(self) -> float | None:
        """The logit of the head's sink."""
        program = self.layer.program
        if program is None or program.sinks is None or not np.isfinite(program.sinks[self.head]):
            return None
        return float(program.sinks[self.head])

    @cached_property
    def _seen(self) -> list[int]:
        return [key for key in range(len(self.keys)) if self.explanation.sees(key)]

    @cached_property
    def order(self) -> list[int]:
        """The neurons from left to right."""
        if self.shown.neurons == "model":
            return list(range(self.dim))
        keys = [self.key] if self.shown.neurons == "pair" else self._seen
        products = self.queries[self.query].astype(np.float64) * self.keys[keys]
        sums = np.abs(products).sum(axis=0)
        return [int(n) for n in np.argsort(-sums, kind="stable")]

    @cached_property
    def deciding(self) -> list[int] | None:
        """The fewest neurons that make 80% of the key's lead over the mean of the others; None if
        there are no others."""
        others = [key for key in self._seen if key != self.key]
        if not others or not self.explanation.sees(self.key):
            return None
        mean = self.keys[others].astype(np.float64).mean(axis=0)
        query = self.queries[self.query].astype(np.float64)
        contributed = self.scale * query * (self.keys[self.key] - mean)
        difference = contributed.sum()
        helping = np.sign(difference) * contributed
        neurons = np.argsort(-helping, kind="stable")
        before = np.cumsum(helping[neurons]) - helping[neurons]
        enough = np.append(before >= _DECIDING_SHARE * abs(difference), True)
        return [int(n) for n in neurons[: int(enough.argmax())]]

    def scales(self) -> tuple[float, float]:
        """The magnitudes of vectors and of products that have the full colour."""
        keys = self.keys[_sample(self.axes.key.shown)]
        vectors = np.concatenate([self.queries[_sample(self.axes.query.shown)], keys])
        return _full_color(vectors), _full_color(self.queries[self.query] * keys)

    def _default_query(self) -> int:
        tokens, program = self.shown.current_stack.queries, self.layer.program
        words = [at for at in range(len(tokens)) if at not in tokens.special]
        last = program is not None and program.mask in ("causal", "window")
        return words[-1 if last else 0] if words else 0

    def _explain(self, query: int) -> QueryNumbers:
        own = self._row(query, [])
        shown = self._row(query, self.muted) if self.muted else own
        program, bias = self.layer.program, None
        if program is not None and (program.bias is not None or program.relative is not None):
            rows = np.array([query])
            bias = program.added(self.head, rows, *self.layer.shape)[0]
        return QueryNumbers(query, own, shown, bias)

    def _row(self, query: int, muted: Sequence[int]) -> RowNumbers:
        program, rows = self.layer.program, np.array([query])
        queries = self.queries
        if muted:
            queries = queries.copy()
            queries[query, list(muted)] = 0
        dots = self.keys.astype(np.float64) @ queries[query].astype(np.float64)
        if program is None:
            return RowNumbers(dots, None, self.layer.head_weights(self.head, rows)[0], None)
        scores = program.scores(queries, self.keys, self.head, rows)
        weights = program.softmax(scores, self.head)[0]
        if self.sink is None:
            return RowNumbers(dots, scores[0], weights, None)
        logits = np.append(scores[0].astype(np.float64), self.sink)
        shares = np.exp(logits - logits.max())
        return RowNumbers(dots, scores[0], weights, float(shares[-1] / shares.sum()))


def _sample(tokens: Sequence[int]) -> list[int]:
    step = len(tokens) / _SAMPLE
    return list(tokens) if step <= 1 else [tokens[int(n * step)] for n in range(_SAMPLE)]


def _full_color(vectors: Floats) -> float:
    """The 98th percentile, so that one outlying component does not make all others pale."""
    return float(np.percentile(np.abs(vectors), 98, method="lower")) or 1.0
