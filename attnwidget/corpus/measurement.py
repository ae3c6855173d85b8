"""The numbers of every head over the texts of one condition: the model's own, or a null."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import HeadMetrics, Metric, Numbers, batch_of_weights
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE, cell_bounds
from attnwidget.record import Floats, Tokens, spread_rows
from attnwidget.tracing.calls import CallId

from .accumulators import Extremes, Means, OffsetMeans, Sample

OwnMetric: TypeAlias = Callable[[Floats, Tokens], float]
"""(weights [Tq, Tk] of one head, the keys) -> a number, or NaN if the text has none."""

SAMPLED_TEXTS = 64
"""The number of texts of which rows are kept, to compare heads and texts with each other."""

SAMPLED_ROWS = 4
"""The number of rows that are kept of such a text, evenly spread."""

FIRST_TOKENS = 10
"""The number of tokens at the start whose weights are compared between texts."""

EXAMPLES = 3
"""The number of highest, and of lowest, texts that are kept for each number of a head."""

# The keys that are kept of a row; the last one has the weights of all that follow.
_SAMPLED_KEYS = 128

# A pair of a query and a key in one integer: the key takes the lower bits.
_PAIR_BITS = 32

# The weights that are read at a time: a megabyte, which fits into the processor's cache.
_CELLS = 1 << 18


_T = TypeVar("_T")


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

    def of(self, weights: Floats, keys: Tokens, *, is_self: bool) -> Numbers:
        """The metrics of each head: float64 [metrics, heads], NaN where one is not defined.

        Args:
            weights: float32 [heads, Tq, Tk].
            is_self: True if the queries are the keys' tokens.
        """
        defined = {name: m for name, m in self.rows.items() if is_self or not m.self_only}
        found = np.full((len(self.names), len(weights)), np.nan)
        for heads in _groups(weights):
            metrics = HeadMetrics(defined, keys)
            metrics.add(batch_of_weights(weights[heads], np.arange(weights.shape[1])))
            means = metrics.means()
            for number, name in enumerate(self.rows):
                if name in means:
                    found[number, heads] = means[name]
        for number, (name, function) in enumerate(self.own.items(), len(self.rows)):
            found[number] = [_own(name, function, head, keys) for head in weights]
        return found


def _groups(weights: Floats) -> Iterator[slice]:
    """The heads that are read at a time."""
    size = max(1, _CELLS // weights[0].size)
    for start in range(0, len(weights), size):
        yield slice(start, start + size)


def _own(name: str, function: OwnMetric, weights: Floats, keys: Tokens) -> float:
    number = function(weights, keys)
    if isinstance(number, (Real, np.ndarray)) and np.ndim(number) == 0:
        return float(number)
    raise TypeError(
        f"the metric {name} returned {type(number).__name__}; expected one number for the weights "
        "[Tq, Tk] of a head"
    )


@dataclass
class SampledText:
    """A text of the sample.

    Attributes:
        tokens: the labels of the tokens.
        own: by call of self-attention, the tokens.
        rows: by call, the weights of some rows, float16 [heads, rows, keys].
        first: by call, the weights between the first tokens, float32 [heads, 10, 10]; NaN beyond
            the end of the text.
        values: by call, the metrics, float64 [metrics, heads].
        pairs: by call, the strongest pair of tokens, int64 [heads].
    """

    tokens: tuple[str, ...]
    own: dict[CallId, Tokens] = field(default_factory=dict)
    rows: dict[CallId, NDArray[np.float16]] = field(default_factory=dict)
    first: dict[CallId, Floats] = field(default_factory=dict)
    values: dict[CallId, Numbers] = field(default_factory=dict)
    pairs: dict[CallId, NDArray[np.int64]] = field(default_factory=dict)


@dataclass
class MeasuredLayer:
    """A layer, and the call of its heads among those of all layers.

    Attributes:
        heads: the places of its heads.
        first: the lowest index of a text.
        shape: (Tq, Tk) of this text.
        texts: the number of texts.
    """

    heads: slice
    first: int
    shape: tuple[int, int]
    texts: int = 0


@dataclass
class _Waiting:
    """Weights of one text that are read together."""

    keys: Tokens
    is_self: bool
    weights: dict[CallId, Floats] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        return sum(weights.size for weights in self.weights.values())


class Measurement:
    """The sums of every head over texts, and a sample of the texts.

    Attributes:
        names: of the metrics.
        layers: by call, in the order of their calls.
        means: of the metrics, [metrics, heads].
        extremes: the texts with the highest and the lowest metrics, [metrics, heads].
        thumbnails: the sum of thumbnails over texts, float64 [heads, 32, 32].
        sample: some of the texts.
        offsets: the mean weights of self-attention by offset; None if they are not measured.
        missing: what could not be read, as "module: reason".
    """

    def __init__(self, metrics: MetricSet, seed: int, *, offsets: bool = False) -> None:
        self.names = metrics.names
        self._metrics: MetricSet | None = metrics
        self.layers: dict[CallId, MeasuredLayer] = {}
        shape = len(self.names), 0
        self.means = Means(shape, seed)
        self.extremes = Extremes(shape, EXAMPLES)
        self.thumbnails = np.zeros((0, THUMBNAIL_SIZE, THUMBNAIL_SIZE))
        self.sample: Sample[SampledText] = Sample(SAMPLED_TEXTS, seed)
        self.offsets = OffsetMeans() if offsets else None
        self.missing: dict[str, None] = {}
        # By text: by tokens and shape, the weights that are not read yet; and the metrics so far.
        self._waiting: dict[int, dict[tuple[int, bool, tuple[int, ...]], _Waiting]] = {}
        self._values: dict[int, dict[CallId, Numbers]] = {}
        self._pairs: dict[int, dict[CallId, NDArray[np.int64]]] = {}

    def add(self, call: CallId, index: int, weights: Floats, queries: Tokens, keys: Tokens) -> None:
        """Add a layer's weights of one text. Several layers are read together: see `finish`.

        Args:
            index: of the text.
            weights: float32 [heads, Tq, Tk].
        """
        heads, *shape = weights.shape
        self._layer(call, heads, index, (shape[0], shape[1])).texts += 1
        is_self = queries is keys
        kinds = self._waiting.setdefault(index, {})
        kind = id(keys), is_self, tuple(shape)
        waiting = kinds.setdefault(kind, _Waiting(keys, is_self))
        waiting.weights[call] = weights
        if waiting.cells >= _CELLS:
            self._read(index, kinds.pop(kind))

    def finish(self) -> None:
        """Read all weights that were added, and complete their texts."""
        for index, kinds in self._waiting.items():
            for waiting in kinds.values():
                self._read(index, waiting)
        self._waiting.clear()
        texts = {}
        for index, by_place in self._values.items():
            values = np.full((len(self.names), len(self.thumbnails)), np.nan)
            pairs = np.full(len(self.thumbnails), -1)
            for call, found in by_place.items():
                values[:, self.layers[call].heads] = found
                pairs[self.layers[call].heads] = self._pairs[index][call]
            texts[index] = values
            self.extremes.add(index, values, pairs)
        if texts:
            self.means.add(texts)
        self._values.clear()
        self._pairs.clear()

    def __getstate__(self) -> dict[str, Any]:
        # A copy that was sent or stored is merged, but reads no text: it needs no functions.
        return {**self.__dict__, "_metrics": None}

    def _layer(self, call: CallId, heads: int, index: int, shape: tuple[int, int]) -> MeasuredLayer:
        """The layer at a call, for which there is room from now on.

        Args:
            index, shape: of a text.
        """
        if call not in self.layers:
            start = len(self.thumbnails)
            self.layers[call] = MeasuredLayer(slice(start, start + heads), index, shape)
            self.means.widen(heads)
            self.extremes.widen(heads)
            if self.offsets is not None:
                self.offsets.widen(heads)
            more = np.zeros((heads, *self.thumbnails.shape[1:]))
            self.thumbnails = np.concatenate([self.thumbnails, more])
        layer = self.layers[call]
        if index < layer.first:
            layer.first, layer.shape = index, shape
        return layer

    def _read(self, index: int, waiting: _Waiting) -> None:
        together = np.concatenate(list(waiting.weights.values()))
        if self._metrics is None:
            raise TypeError("a measurement that was sent reads no text")
        values = self._metrics.of(together, waiting.keys, is_self=waiting.is_self)
        thumbnails, pairs = _thumbnails(together), _strongest_pairs(together, waiting.keys)
        sampled = self.sample.of(index, lambda: SampledText(waiting.keys.labels))
        start = 0
        for call, weights in waiting.weights.items():
            heads = slice(start, start + len(weights))
            start = heads.stop
            self._values.setdefault(index, {})[call] = values[:, heads]
            self._pairs.setdefault(index, {})[call] = pairs[heads]
            self.thumbnails[self.layers[call].heads] += thumbnails[heads]
            if self.offsets is not None and waiting.is_self:
                for some in _groups(weights):
                    first = self.layers[call].heads.start + some.start
                    self.offsets.add(first, weights[some])
            if sampled is not None:
                if waiting.is_self:
                    sampled.own[call] = waiting.keys
                sampled.rows[call] = _some_rows(weights)
                sampled.first[call] = _first(weights)
                sampled.values[call] = values[:, heads]
                sampled.pairs[call] = pairs[heads]

    def needed(self, texts: Mapping[int, _T]) -> dict[int, _T]:
        """The entries of the texts that examples refer to, by index."""
        indices = {*self.sample.texts, *np.unique(self.extremes.texts).tolist()}
        return {index: text for index, text in texts.items() if index in indices}

    def merge(self, other: Measurement) -> None:
        """Add the texts of another measurement of the same metrics with the same seed."""
        columns = np.zeros(len(other.thumbnails), np.int64)
        for call, layer in other.layers.items():
            heads = layer.heads.stop - layer.heads.start
            own = self._layer(call, heads, layer.first, layer.shape)
            own.texts += layer.texts
            columns[layer.heads] = np.arange(own.heads.start, own.heads.stop)
        self.means.merge(other.means, columns)
        self.extremes.merge(other.extremes, columns)
        if self.offsets is not None and other.offsets is not None:
            self.offsets.merge(other.offsets, columns)
        self.thumbnails[columns] += other.thumbnails
        self.sample.merge(other.sample)
        self.missing |= other.missing


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


def _strongest_pairs(weights: Floats, keys: Tokens) -> NDArray[np.int64]:
    """The query and the key with each head's largest weight, packed, int64 [heads].

    Heads rest on the first token and on special ones, which are left out.
    """
    weights = weights.copy()
    weights[:, :, [0, *keys.special]] = 0
    queries, columns = np.divmod(weights.reshape(len(weights), -1).argmax(axis=1), len(keys))
    pairs: NDArray[np.int64] = queries << _PAIR_BITS | columns
    return pairs


def unpacked(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs of a query and a key in one integer as two, [..., 2]; -1 for no pair."""
    columns = np.where(pairs < 0, -1, pairs & ((1 << _PAIR_BITS) - 1))
    return np.stack([pairs >> _PAIR_BITS, columns], axis=-1)


def _some_rows(weights: Floats) -> NDArray[np.float16]:
    rows = weights[:, spread_rows(weights.shape[1], SAMPLED_ROWS)]
    if rows.shape[2] > _SAMPLED_KEYS:
        others = rows[..., _SAMPLED_KEYS - 1 :].sum(axis=2, keepdims=True)
        rows = np.concatenate([rows[..., : _SAMPLED_KEYS - 1], others], axis=2)
    return rows.astype(np.float16)


def _first(weights: Floats) -> Floats:
    first = np.full((len(weights), FIRST_TOKENS, FIRST_TOKENS), np.nan, np.float32)
    start = weights[:, :FIRST_TOKENS, :FIRST_TOKENS]
    first[:, : start.shape[1], : start.shape[2]] = start
    return first
