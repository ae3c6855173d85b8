"""The metrics of weights, or of coefficients, as a model computes them, added to a measurement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import (
    SIGNED_METRICS,
    HeadMetrics,
    Metric,
    Numbers,
    batch_of_coefficients,
    batch_of_weights,
)
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE, cell_bounds
from attnwidget.record import Floats, Tokens, spread_rows
from attnwidget.tracing import CallId

from .accumulators import CELLS, Integers, OffsetMeans, groups
from .measurement import Measurement, SampledLayer, packed

OwnMetric: TypeAlias = Callable[[Floats, Tokens], float]
"""(weights [Tq, Tk] of one head, the keys) -> a number, or NaN if the text has none."""

# The rows that are kept of a sampled text, evenly spread.
_SAMPLED_ROWS = 4

# The keys that are kept of such a row; the last one has the weights of all that follow.
_SAMPLED_KEYS = 128

# The tokens at the start whose weights are compared between texts.
_FIRST_TOKENS = 10


@dataclass(frozen=True)
class MetricSet:
    """The metrics of a measurement.

    Attributes:
        rows: metrics of rows, by name.
        own: the user's functions, by name.
    """

    rows: Mapping[str, Metric]
    own: Mapping[str, OwnMetric]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.rows, *self.own)

    def of(
        self,
        weights: Floats,
        keys: Tokens,
        *,
        is_self: bool,
        of_softmax: bool,
        coefficients: Floats | None,
    ) -> Numbers:
        """The metrics of each head: float64 [metrics, heads], NaN where one is not defined.

        Args:
            weights: float32 [heads, Tq, Tk].
            is_self: True if the queries are the keys' tokens.
            of_softmax: False if they are shares of a layer without one.
            coefficients: those of such a layer, of the same shape; None if they are not known.
        """
        found = np.full((len(self.names), len(weights)), np.nan)
        rows = {
            name: each
            for name, each in self.rows.items()
            if (of_softmax or not each.of_softmax)
            and (coefficients is not None or name not in SIGNED_METRICS)
        }
        for heads in groups(weights):
            metrics = HeadMetrics(rows, keys, is_self=is_self)
            queries = np.arange(weights.shape[1])
            metrics.add(
                batch_of_weights(weights[heads], queries)
                if coefficients is None
                else batch_of_coefficients(coefficients[heads], queries)
            )
            means = metrics.means()
            for number, name in enumerate(self.rows):
                if name in means:
                    found[number, heads] = means[name]
        if not of_softmax and coefficients is None:  # of the user's functions, which get these
            return found
        numbers = weights if coefficients is None else coefficients
        for number, (name, function) in enumerate(self.own.items(), len(self.rows)):
            found[number] = [_own(name, function, head, keys) for head in numbers]
        return found


def _own(name: str, function: OwnMetric, weights: Floats, keys: Tokens) -> float:
    number = function(weights, keys)
    if isinstance(number, (Real, np.ndarray)) and np.ndim(number) == 0:
        return float(number)
    raise TypeError(
        f"the metric {name} returned {type(number).__name__}; expected one number for the weights "
        "[Tq, Tk] of a head"
    )


class _Rows(NamedTuple):
    """Rows of one text that can be read together."""

    text: int
    keys: Tokens
    is_self: bool
    of_softmax: bool
    shape: tuple[int, ...]


class Meter:
    """Adds the weights of texts to a measurement, those of several layers together.

    Args:
        offsets: True to measure the mean weights of self-attention by offset as well.
    """

    def __init__(self, metrics: MetricSet, measurement: Measurement, *, offsets: bool) -> None:
        self._metrics = metrics
        self._measurement = measurement
        self._has_offsets = offsets
        # By call, the weights that are not read yet, and coefficients.
        self._waiting: dict[_Rows, dict[CallId, tuple[Floats, Floats | None]]] = {}
        # By call, by text: the metrics, and the strongest pairs.
        self._values: dict[CallId, dict[int, Numbers]] = defaultdict(dict)
        self._pairs: dict[CallId, dict[int, Integers]] = defaultdict(dict)

    def add(
        self,
        call: CallId,
        kind: tuple[str, bool, str, str],
        index: int,
        weights: Floats,
        queries: Tokens,
        keys: Tokens,
        coefficients: Floats | None = None,
    ) -> None:
        """Add a layer's weights of one text, as far as `finish` is called.

        Args:
            kind: see `LayerSums`.
            index: of the text.
            weights: float32 [heads, Tq, Tk]; without a softmax, the magnitudes of coefficients as
                shares of their row.
            coefficients: these, of the same shape; None if they are not known.
        """
        heads, *shape = weights.shape
        layer = self._measurement.layer(call, kind, heads, index, (shape[0], shape[1]))
        is_self = queries is keys
        if self._has_offsets and is_self:
            layer.offsets = layer.offsets or OffsetMeans.empty(heads)
            layer.offsets.add(weights)
        rows = _Rows(index, keys, is_self, layer.of_softmax, weights.shape[1:])
        waiting = self._waiting.setdefault(rows, {})
        waiting[call] = weights, coefficients
        if sum(each.size for each, _ in waiting.values()) >= CELLS:
            self._read(rows)

    def finish(self) -> None:
        """Read all weights that were added, and complete their texts."""
        for rows in list(self._waiting):
            self._read(rows)
        for call, values in self._values.items():
            layer = self._measurement.layers[call]
            layer.means.add(values)
            layer.extremes.add(values, self._pairs[call])
        self._values.clear()
        self._pairs.clear()

    def _read(self, rows: _Rows) -> None:
        waiting = self._waiting.pop(rows)
        together = np.concatenate([weights for weights, _ in waiting.values()])
        signed = [coefficients for _, coefficients in waiting.values() if coefficients is not None]
        values = self._metrics.of(
            together,
            rows.keys,
            is_self=rows.is_self,
            of_softmax=rows.of_softmax,
            coefficients=np.concatenate(signed) if signed else None,
        )
        thumbnails, pairs = _thumbnails(together), _strongest_pairs(together, rows.keys)
        sampled = self._measurement.sampled(rows.text, rows.keys.labels)
        start = 0
        for call, (weights, _) in waiting.items():
            heads = slice(start, start + len(weights))
            start = heads.stop
            self._values[call][rows.text] = values[:, heads]
            self._pairs[call][rows.text] = pairs[heads]
            self._measurement.layers[call].thumbnails += thumbnails[heads]
            if sampled is not None:
                sampled.layers[call] = SampledLayer(
                    rows.keys if rows.is_self else None,
                    _some_rows(weights),
                    _first(weights),
                    values[:, heads],
                    pairs[heads],
                )


def _thumbnails(weights: Floats) -> Floats:
    """The largest weight of each cell, float32 [heads, 32, 32]; a short text fills all cells."""
    for axis in (1, 2):
        bounds = cell_bounds(weights.shape[axis], None)
        cells = np.arange(THUMBNAIL_SIZE) * (len(bounds) - 1) // THUMBNAIL_SIZE
        starts, last = bounds[cells], bounds[cells + 1] - 1
        largest = weights.take(starts, axis=axis)
        # np.maximum.reduceat takes several times as long for short cells.
        for step in range(1, int((last - starts).max()) + 1):
            within = np.minimum(starts + step, last)
            np.maximum(largest, weights.take(within, axis=axis), out=largest)
        weights = largest
    return weights


def _strongest_pairs(weights: Floats, keys: Tokens) -> Integers:
    """The query and the key with each head's largest weight, packed, int64 [heads].

    Heads rest on the first token and on special ones, which are left out.
    """
    weights = weights.copy()
    weights[:, :, [0, *keys.special]] = 0
    queries, columns = np.divmod(weights.reshape(len(weights), -1).argmax(axis=1), len(keys))
    return packed(queries, columns)


def _some_rows(weights: Floats) -> NDArray[np.float16]:
    rows = weights[:, spread_rows(weights.shape[1], _SAMPLED_ROWS)]
    if rows.shape[2] > _SAMPLED_KEYS:
        others = rows[..., _SAMPLED_KEYS - 1 :].sum(axis=2, keepdims=True)
        rows = np.concatenate([rows[..., : _SAMPLED_KEYS - 1], others], axis=2)
    return rows.astype(np.float16)


def _first(weights: Floats) -> Floats:
    first = np.full((len(weights), _FIRST_TOKENS, _FIRST_TOKENS), np.nan, np.float32)
    start = weights[:, :_FIRST_TOKENS, :_FIRST_TOKENS]
    first[:, : start.shape[1], : start.shape[2]] = start
    return first
