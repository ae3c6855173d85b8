"""How the query and key vectors of one head make its weights: the numbers of the neuron view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats

from .shown import Shown, TokenAxes

Doubles = NDArray[np.float64]

# Of the difference between a key's scaled dot product and the mean of the others'.
_SHARE = 0.8
# Of so many vectors, a colour's scale is that of all.
_ENOUGH = 128


@dataclass(frozen=True)
class RowNumbers:
    """One query against every key.

    Attributes:
        dots: float64 [Tk], q.k.
        scores: float32 [Tk], what goes into the softmax; None where it is not recorded.
        weights: float32 [Tk]; `sink`: what goes to the head's sink, or None.
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
    """The numbers of a query with all neurons (`own`), and without the muted ones (`shown`)."""

    query: int
    own: RowNumbers
    shown: RowNumbers
    bias: Floats | None

    def sees(self, key: int) -> bool:
        if self.own.scores is None:
            return bool(self.own.weights[key] > 0)
        return bool(self.own.scores[key] > -np.inf)


class HeadExplanation:
    """The numbers of one head, for one query.

    The query is the locked one, else the first word, or the last word where words see only those
    before them.

    Attributes:
        comparison: the numbers of a second query that is locked, or None.
        focus_key: the locked key, or None; key: this, or the one that gets most attention.
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
        wanted = locked[0] if locked else self._usual_query()
        places = self.axes.query.places
        self.query = wanted if places[wanted] >= 0 else self.axes.query.shown[0]
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
        """The query's numbers, and those of the one compared with it."""
        return [one for one in (self.explanation, self.comparison) if one is not None]

    @property
    def scale(self) -> float:
        return 1.0 if self.layer.program is None else self.layer.program.head_scale(self.head)

    @property
    def sink(self) -> float | None:
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
        by = self.shown.neurons
        if by == "model":
            return list(range(self.dim))
        keys = [self.key] if by == "pair" else self._seen
        products = self.queries[self.query].astype(np.float64) * self.keys[keys]
        sums = np.abs(products).sum(axis=0)
        return [int(n) for n in np.argsort(-sums, kind="stable")]

    @cached_property
    def deciding(self) -> list[int] | None:
        """The fewest neurons that make 80% of what sets the key apart; None where none can be seen
        beside it."""
        others = [key for key in self._seen if key != self.key]
        if not others or not self.explanation.sees(self.key):
            return None
        mean = self.keys[others].astype(np.float64).mean(axis=0)
        query = self.queries[self.query].astype(np.float64)
        contributed = self.scale * query * (self.keys[self.key] - mean)
        difference = contributed.sum()
        along = np.sign(difference) * contributed
        taken: list[int] = []
        total = 0.0
        for n in np.argsort(-along, kind="stable"):
            if total >= _SHARE * abs(difference):
                break
            taken.append(int(n))
            total += along[n]
        return taken

    def scales(self) -> tuple[float, float]:
        """The magnitudes of vectors and of products that are drawn in full colour."""
        keys = self.keys[_sample(self.axes.key.shown)]
        vectors = np.concatenate([self.queries[_sample(self.axes.query.shown)], keys])
        return _full_color(vectors), _full_color(self.queries[self.query] * keys)

    def _usual_query(self) -> int:
        tokens, program = self.shown.current_stack.queries, self.layer.program
        words = [at for at in range(len(tokens)) if at not in tokens.special]
        last = program is not None and program.mask in ("causal", "window")
        return words[-1 if last else 0] if words else 0

    def _explain(self, query: int) -> QueryNumbers:
        own = self._read(query, [])
        shown = self._read(query, self.muted) if self.muted else own
        program, bias = self.layer.program, None
        if program is not None and (program.bias is not None or program.relative is not None):
            rows = np.array([query])
            bias = program.added(self.head, rows, *self.layer.shape)[0]
        return QueryNumbers(query, own, shown, bias)

    def _read(self, query: int, muted: Sequence[int]) -> RowNumbers:
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
    step = len(tokens) / _ENOUGH
    return list(tokens) if step <= 1 else [tokens[int(n * step)] for n in range(_ENOUGH)]


def _full_color(vectors: Floats) -> float:
    """The 98th percentile: one outlying component must not make all others pale."""
    found = np.sort(np.abs(vectors).ravel())
    return float(found[int(0.98 * (len(found) - 1))]) or 1.0
