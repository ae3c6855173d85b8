"""The numbers of every head over the texts of one condition: the model's own, or a null."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import HeadMetrics, Metric, Numbers, batch_of_weights
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE, cell_bounds
from attnwidget.record import Floats, Tokens, spread_rows

from .accumulators import Extremes, Means, Sample

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

# The weights that are read at a time: 16 megabytes.
_CELLS = 1 << 22


_T = TypeVar("_T")


class Place(NamedTuple):
    """An attention call of a model: the module's name, and the number of its call in a pass."""

    module: str
    call: int


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
        rows: by place, the weights of some rows, float16 [heads, rows, keys].
        first: by place, the weights between the first tokens, float32 [heads, 10, 10]; NaN beyond
            the end of the text.
        values: by place, the metrics, float64 [metrics, heads].
    """

    tokens: tuple[str, ...]
    rows: dict[Place, NDArray[np.float16]] = field(default_factory=dict)
    first: dict[Place, Floats] = field(default_factory=dict)
    values: dict[Place, Numbers] = field(default_factory=dict)


class LayerSums:
    """The sums of one layer over texts.

    Attributes:
        shape: (Tq, Tk) of the first text.
        means: of the metrics, [metrics, heads].
        extremes: the texts with the highest and the lowest metrics.
        thumbnails: the sum of thumbnails over texts, float64 [heads, 32, 32].
        texts: the number of texts.
    """

    def __init__(self, metrics: int, heads: int, shape: tuple[int, int], seed: int) -> None:
        self.shape = shape
        self.means = Means((metrics, heads), seed)
        self.extremes = Extremes((metrics, heads), EXAMPLES)
        self.thumbnails = np.zeros((heads, THUMBNAIL_SIZE, THUMBNAIL_SIZE))
        self.texts = 0

    def merge(self, other: LayerSums) -> None:
        """Add the texts of another."""
        self.means.merge(other.means)
        self.extremes.merge(other.extremes)
        self.thumbnails += other.thumbnails
        self.texts += other.texts


class Measurement:
    """The sums of every layer over texts, and a sample of the texts.

    Attributes:
        metrics: the metrics that are measured.
        layers: by place, in the order of their calls.
        sample: some of the texts.
        missing: what could not be read, as "module: reason".
    """

    def __init__(self, metrics: MetricSet, seed: int) -> None:
        self.metrics = metrics
        self.layers: dict[Place, LayerSums] = {}
        self.sample: Sample[SampledText] = Sample(SAMPLED_TEXTS, seed)
        self.missing: dict[str, None] = {}
        self._seed = seed

    def add(self, place: Place, index: int, weights: Floats, queries: Tokens, keys: Tokens) -> None:
        """Add a layer's weights of one text.

        Args:
            index: of the text.
            weights: float32 [heads, Tq, Tk].
        """
        values = self.metrics.of(weights, keys, is_self=queries is keys)
        shape = weights.shape[1], weights.shape[2]
        if place not in self.layers:
            self.layers[place] = LayerSums(len(values), len(weights), shape, self._seed)
        layer = self.layers[place]
        layer.means.add(index, values)
        layer.extremes.add(index, values)
        layer.thumbnails += _thumbnails(weights)
        layer.texts += 1
        sampled = self.sample.of(index, lambda: SampledText(keys.labels))
        if sampled is not None:
            sampled.rows[place] = _some_rows(weights)
            sampled.first[place] = _first(weights)
            sampled.values[place] = values

    def needed(self, texts: Mapping[int, _T]) -> dict[int, _T]:
        """What is known of the texts that examples refer to, by index."""
        indices = set(self.sample.texts)
        for layer in self.layers.values():
            indices.update(np.unique(layer.extremes.texts).tolist())
        return {index: text for index, text in texts.items() if index in indices}

    def merge(self, other: Measurement) -> None:
        """Add the texts of another measurement of the same metrics with the same seed."""
        for place, layer in other.layers.items():
            if place in self.layers:
                self.layers[place].merge(layer)
            else:
                self.layers[place] = layer
        self.sample.merge(other.sample)
        self.missing |= other.missing


def _thumbnails(weights: Floats) -> Floats:
    """The largest weight of each cell, float32 [heads, 32, 32]; a short text fills all cells."""
    for axis in (1, 2):
        length = weights.shape[axis]
        bounds = cell_bounds(length, None)
        weights = np.maximum.reduceat(weights, bounds[:-1], axis=axis)
        cells = np.arange(THUMBNAIL_SIZE) * weights.shape[axis] // THUMBNAIL_SIZE
        weights = weights.take(cells, axis=axis)
    return weights


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
