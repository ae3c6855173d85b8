"""Metrics: one number per head, the mean of a number per query.

Each metric is one function, which its decorator adds to `METRICS`. The manifest, the model view's
menus, colours, tables and status line, and the plots take all metrics from there; tables of records
and profiles also those of `token_metrics`. The first paragraph of a function's docstring is the
description that readers see.

Most are those of Clark et al. 2019, "What Does BERT Look At?", here for one text; the distance is
that of Vig and Belinkov 2019, "Analyzing the Structure of Attention in a Transformer Language
Model", with its sign. i and j are the positions of a query and of a key, and w[i, j] is the weight;
in a layer without a softmax, the magnitude of the coefficient a[i, j] as a share of those of its
row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnwidget.arguments import checked
from attnwidget.record import A_STACK, Floats, Stack, Tokens

from .row_batches import RowBatch

RowValues = tuple[Floats, "NDArray[np.bool_] | Floats"]
"""(values, counted), both [..., rows]: a number per query of a batch, zero if it is not counted.

The metric is the sum of the values divided by that of `counted`, which may be a weight per row."""

Numbers = NDArray[np.float64]

RowFunction = Callable[[RowBatch, Tokens], RowValues]


@dataclass(frozen=True)
class Metric:
    """A number per head.

    Attributes:
        name: the name of the choice, as in `widget.sort = "entropy"`.
        label: the full name.
        unit: "" for none.
        digits: the number of decimals shown.
        directions: for a signed metric, the meaning of a negative and of a positive number.
        self_only: True if it is defined for self-attention only.
        of_softmax: True if it is defined for the weights of a softmax only.
        above: with a threshold, the number is 1 for a text whose mean over rows is above it, else
            0: over many texts, the share of those.
        repeated: True if a profile measures it on random tokens that are repeated, not on texts.
        of_rows: computes the metric of every query of a batch; the second argument is the keys.
    """

    name: str
    label: str
    unit: str
    digits: int
    directions: tuple[str, str] | None
    self_only: bool
    of_softmax: bool
    above: float | None
    repeated: bool
    of_rows: RowFunction

    @property
    def description(self) -> str:
        """One sentence for the readers of a view."""
        return " ".join((self.of_rows.__doc__ or "").split("\n\n")[0].split())


METRICS: dict[str, Metric] = {}
SIGNED_METRICS: dict[str, Metric] = {}
"""The metrics that only layers without a softmax have, of their signed coefficients."""


def metric(
    label: str,
    unit: str = "",
    *,
    digits: int = 3,
    directions: tuple[str, str] | None = None,
    self_only: bool = False,
    of_softmax: bool = False,
    above: float | None = None,
    repeated: bool = False,
    registry: dict[str, Metric] = METRICS,
) -> Callable[[RowFunction], RowFunction]:
    """Add a function to a registry under its own name; see `Metric` for the arguments."""

    def add(function: RowFunction) -> RowFunction:
        name = function.__name__
        registry[name] = Metric(
            name, label, unit, digits, directions, self_only, of_softmax, above, repeated, function
        )
        return function

    return add


@metric("entropy", "nats", digits=2, of_softmax=True)
def entropy(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean entropy of a row: how widely the head looks.

    -Σj w[i, j] log w[i, j], in nats, from 0 (one key) to log Tk (all keys alike). Clark et al.
    2019, section 3.3.
    """
    return _entropies(batch, len(batch.rows)), batch.seen


@metric("distance", "tokens", digits=1, directions=("to the left", "to the right"), self_only=True)
def distance(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean distance from query to key: negative to the left, positive to the right.

    Σj w[i, j] (j - i), in tokens, from 1 - Tk to Tk - 1. Vig and Belinkov 2019 have
    |j - i|.
    """
    # Positions are counted from the middle of the rows, to keep single precision accurate.
    middle = int(batch.rows[len(batch.rows) // 2])
    positions = np.arange(batch.keys.start - middle, batch.keys.stop - middle, dtype=np.float32)
    moment = np.einsum("...ij,j->...i", batch.exps, positions)
    return moment / batch.totals - batch.mass * (batch.rows - middle), batch.seen


@metric("share on previous token", self_only=True)
def previous(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on the token before.

    w[i, i - 1], from 0 to 1, over the queries that have such a key. Clark et al. 2019, section 3.1.
    """
    return _neighbours(batch, keys, -1)


@metric("share on same token", self_only=True)
def same(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on the token itself.

    w[i, i], from 0 to 1, over the queries that have such a key. Clark et al. 2019, section 3.1.
    """
    return _neighbours(batch, keys, 0)


@metric("share on next token", self_only=True)
def next(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on the token after.

    w[i, i + 1], from 0 to 1, over the queries that have such a key. Clark et al. 2019, section 3.1.
    """
    return _neighbours(batch, keys, 1)


@metric("share on first token")
def first(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on the first token.

    w[i, 0], from 0 to 1. A sink for attention in decoders: Xiao et al. 2023, "Efficient Streaming
    Language Models with Attention Sinks".
    """
    if batch.keys.start > 0:
        return np.zeros_like(batch.totals), batch.seen
    return batch.exps[..., 0] / batch.totals, batch.seen


@metric("share on special tokens")
def special(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on special tokens, such as [SEP].

    Σj w[i, j] over the special keys j, from 0 to 1. Clark et al. 2019, section 3.2.
    """
    return share(batch, keys.special), batch.seen


@metric("entropy of first token", "nats", digits=2, of_softmax=True)
def entropy_first(batch: RowBatch, keys: Tokens) -> RowValues:
    """Entropy of the first row: how widely the first token, as [CLS], spreads its attention.

    -Σj w[0, j] log w[0, j], in nats, from 0 to log Tk. Clark et al. 2019, section 3.3.
    """
    is_first = batch.rows == 0
    return _entropies(batch, int(is_first[0])), batch.seen & is_first


@metric("negative share", registry=SIGNED_METRICS)
def negative(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of negative coefficients in the magnitudes of a row's coefficients.

    Σj max(-a[i, j], 0) / Σj |a[i, j]|, from 0 to 1.
    """
    below = -np.minimum(_coefficients(batch), 0).sum(axis=-1)
    return below / batch.totals, batch.seen


@metric("sum of a row", digits=2, directions=("negative", "positive"), registry=SIGNED_METRICS)
def row_sum(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean sum of a row's coefficients, which a softmax would make 1.

    Σj a[i, j], of either sign.
    """
    return _coefficients(batch).sum(axis=-1), batch.seen


@checked(stack=A_STACK)
def metrics_of(stack: Stack, metrics: Mapping[str, Metric] = METRICS) -> dict[str, Metric]:
    """The metrics that are defined for a stack, with those that only such a stack has.

    They are told by whether it has a softmax and whether tokens attend to each other.
    """
    is_self = stack.queries == stack.keys
    found = {**metrics, **SIGNED_METRICS} if stack.signed else dict(metrics)
    return {
        name: each
        for name, each in found.items()
        if not (each.self_only and not is_self) and not (each.of_softmax and stack.signed)
    }


def _coefficients(batch: RowBatch) -> Floats:
    assert batch.coefficients is not None
    return batch.coefficients


def _entropies(batch: RowBatch, count: int) -> Floats:
    """The entropy of the first rows of the batch, zero for the others."""
    entropies = np.zeros_like(batch.totals)
    totals = batch.totals[..., :count]
    # log w = log exp - log total.
    products = np.einsum(
        "...ij,...ij->...i", batch.exps[..., :count, :], batch.logs[..., :count, :]
    )
    entropies[..., :count] = batch.mass[..., :count] * np.log(totals) - products / totals
    return entropies


def share(batch: RowBatch, positions: Iterable[int]) -> Floats:
    """The sum of each row's weights over the keys at these positions, float32 [..., rows]."""
    places = [at - batch.keys.start for at in positions if at in batch.keys]
    shares: Floats = batch.exps[..., places].sum(axis=-1) / batch.totals
    return shares


def _neighbours(batch: RowBatch, keys: Tokens, offset: int) -> RowValues:
    """The weight of the key at this offset from the query, over queries that have such a key."""
    rows = batch.rows

    def between(start: int, stop: int) -> slice:
        return slice(*np.searchsorted(rows, (start - offset, stop - offset)))

    values = np.zeros_like(batch.totals)
    # The weights of keys outside of the batch are zero.
    inside = between(batch.keys.start, batch.keys.stop)
    queries, neighbours = np.arange(len(rows))[inside], rows[inside] + (offset - batch.keys.start)
    values[..., inside] = batch.exps[..., queries, neighbours] / batch.totals[..., inside]
    has_one = np.zeros(len(rows), np.bool_)
    has_one[between(0, len(keys))] = True
    return values, batch.seen & has_one


class HeadMetrics:
    """The metrics of one head or, of batches with leading dimensions, of several.

    Args:
        is_self: False to leave out those that are defined for self-attention only.
    """

    def __init__(
        self, metrics: Mapping[str, Metric], keys: Tokens, *, is_self: bool = True
    ) -> None:
        self._metrics = {name: m for name, m in metrics.items() if is_self or not m.self_only}
        self._keys = keys
        self._sums: dict[str, Numbers] = {name: np.zeros(()) for name in self._metrics}
        self._counts = dict(self._sums)

    def add(self, batch: RowBatch) -> None:
        for name, metric in self._metrics.items():
            values, counted = metric.of_rows(batch, self._keys)
            self._sums[name] = self._sums[name] + values.sum(axis=-1, dtype=np.float64)
            self._counts[name] = self._counts[name] + counted.sum(axis=-1, dtype=np.float64)

    def means(self, empty: float = math.nan) -> dict[str, Numbers]:
        """All metrics by name, float64 [...].

        Args:
            empty: the number if no query is counted.
        """
        found = {}
        for name, metric in self._metrics.items():
            sums, counts = self._sums[name], self._counts[name]
            means = sums / np.where(counts > 0, counts, 1)
            if metric.above is not None:
                means = np.where(means > metric.above, 1.0, 0.0)
            # Sums of scores that overflow are NaN, and their queries see nothing.
            found[name] = np.where((counts == 0) & (sums == 0), empty, means)
        return found
