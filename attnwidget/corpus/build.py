"""A profile from the measurements of a model and of its nulls."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.record import Floats
from attnwidget.running.stacks import Group, is_cross, numbers, titles, tower
from attnwidget.tracing import CallId

from .accumulators import Estimate, Means
from .measurement import EXAMPLES, Measurement, SampledText, unpacked
from .nulls import Null
from .profiler import OnRepeated
from .stack_profile import LEVELS, Picked, SampledRows, StackProfile
from .variability import variability

Estimates: TypeAlias = Mapping[str, Mapping[CallId, Estimate]]
"""By metric, by place, [heads] each; what is not known is left out."""


@dataclass(frozen=True)
class Condition:
    """The measurements of a model, or of a null.

    Attributes:
        texts: on the texts.
        repeated: on repeated tokens.
    """

    texts: Measurement
    repeated: OnRepeated

    def estimates(self, seed: int) -> Estimates:
        """All metrics."""
        found: dict[str, dict[CallId, Estimate]] = {}
        for measurement in (self.texts, self.repeated.tokens):
            means = measurement.means.estimate()
            for row, name in enumerate(measurement.names):
                found[name] = {
                    place: means.at((row, layer.heads))
                    for place, layer in measurement.layers.items()
                }
        by_text: dict[str, dict[CallId, dict[int, Numbers]]] = {
            "copying": self.repeated.copying,
            "copying_weights": self.repeated.copying_weights,
            "variability": {
                place: variability(first) for place, first in self._first_weights().items()
            },
        }
        for name, places in by_text.items():
            found[name] = {place: _estimate(values, seed) for place, values in places.items()}
        return found

    def _first_weights(self) -> dict[CallId, dict[int, Floats]]:
        """The weights between the first tokens of sampled texts, by place and text."""
        found: dict[CallId, dict[int, Floats]] = {}
        for index, text in self.texts.sample.texts.items():
            for place, weights in text.first.items():
                found.setdefault(place, {})[index] = weights
        return found


def _estimate(values: Mapping[int, Numbers], seed: int) -> Estimate:
    """The mean over texts of numbers [heads]."""
    [shape] = {each.shape for each in values.values()}
    means = Means(shape, seed)
    means.add(values)
    return means.estimate()


def build_stacks(
    own: Condition, nulls: Mapping[Null, Estimates], names: Sequence[str], seed: int
) -> dict[str, StackProfile]:
    """The stacks of a profile.

    Args:
        nulls: by name.
        names: the metrics, in order.
    """
    groups: dict[tuple[str, bool, tuple[int, int]], list[CallId]] = {}
    for place, layer in own.texts.layers.items():
        kind = tower(place.module), is_cross(place.module), layer.shape
        groups.setdefault(kind, []).append(place)
    named = titles([Group(of_tower, cross) for of_tower, cross, _ in groups])
    estimates = own.estimates(seed)
    return {
        name: _stack(places, own.texts, estimates, nulls, names)
        for name, places in zip(named, groups.values(), strict=True)
    }


def _stack(
    places: Sequence[CallId],
    measured: Measurement,
    estimates: Estimates,
    nulls: Mapping[Null, Estimates],
    names: Sequence[str],
) -> StackProfile:
    layers = [measured.layers[place] for place in places]
    heads = tuple(layer.heads.stop - layer.heads.start for layer in layers)
    # The place of each metric of texts among all.
    rows = [names.index(name) for name in measured.names]
    extremes = _none_picked((2, len(names), len(places), max(heads), EXAMPLES))
    medians = _none_picked((len(names), len(places), max(heads)))
    thumbnails = np.zeros((len(places), max(heads), *measured.thumbnails.shape[1:]), np.float16)
    sample = measured.sample.texts
    for number, (place, layer, count) in enumerate(zip(places, layers, heads, strict=True)):
        found = measured.extremes
        extremes.texts[:, rows, number, :count] = found.texts[:, :, layer.heads]
        extremes.values[:, rows, number, :count] = found.values[:, :, layer.heads]
        extremes.pairs[:, rows, number, :count] = unpacked(found.marks[:, :, layer.heads])
        thumbnails[number, :count] = measured.thumbnails[layer.heads] / layer.texts
        values = {i: text.values[place] for i, text in sample.items() if place in text.values}
        if values:
            nearest, middles = _medians(values)
            medians.texts[rows, number, :count] = nearest
            medians.values[rows, number, :count] = middles
            for head, row in np.ndindex(count, len(rows)):
                text = sample.get(int(nearest[row, head]))
                if text is not None:
                    medians.pairs[rows[row], number, head] = unpacked(text.pairs[place][head])
    return StackProfile(
        tuple(numbers([place.module for place in places])),
        heads,
        _estimates(estimates, places, heads, names),
        {null: _estimates(found, places, heads, names) for null, found in nulls.items()},
        thumbnails,
        _sampled_rows(sample, places, heads),
        extremes,
        medians,
    )


def _none_picked(shape: tuple[int, ...]) -> Picked:
    return Picked(np.full(shape, -1), np.full(shape, np.nan), np.full((*shape, 2), -1))


def _estimates(
    found: Estimates,
    places: Sequence[CallId],
    heads: Sequence[int],
    names: Sequence[str],
) -> dict[str, Estimate]:
    """Every metric as arrays [layers, heads]."""
    shape = len(names), len(places), max(heads)
    means, lows, highs = (np.full(shape, np.nan) for _ in range(3))
    counts = np.zeros(shape, np.int64)
    for row, name in enumerate(names):
        for layer, (place, count) in enumerate(zip(places, heads, strict=True)):
            estimate = found.get(name, {}).get(place)
            if estimate is not None:
                at = row, layer, slice(count)
                means[at], lows[at], highs[at] = estimate.mean, estimate.low, estimate.high
                counts[at] = estimate.count
    return {name: Estimate(means[n], lows[n], highs[n], counts[n]) for n, name in enumerate(names)}


def _medians(values: Mapping[int, Numbers]) -> tuple[NDArray[np.int64], Numbers]:
    """The texts next to the median of each number, and the numbers: [metrics, heads] each."""
    texts = np.array(sorted(values))
    found = np.stack([values[index] for index in texts.tolist()])
    known = ~np.isnan(found)
    ordered = np.sort(found, axis=0)  # NaN comes last
    middle = ((known.sum(axis=0) - 1) // 2).clip(0)
    medians = np.take_along_axis(ordered, middle[None], axis=0)
    nearest = (found == medians).argmax(axis=0)
    return np.where(known.any(axis=0), texts[nearest], -1), medians[0]


def _sampled_rows(
    sample: Mapping[int, SampledText], places: Sequence[CallId], heads: Sequence[int]
) -> SampledRows:
    """The rows of all texts that every layer has."""
    texts = [text for _, text in sorted(sample.items()) if set(places) <= text.rows.keys()]
    sides = [text.rows[places[0]].shape[1:] for text in texts]
    widest = max((width for _, width in sides), default=0)
    levels = np.zeros((len(places), max(heads), sum(count for count, _ in sides), widest), np.uint8)
    start = 0
    for text, (count, width) in zip(texts, sides, strict=True):
        for layer, (place, of_layer) in enumerate(zip(places, heads, strict=True)):
            roots = np.sqrt(np.clip(text.rows[place].astype(np.float32), 0, 1))
            levels[layer, :of_layer, start : start + count, :width] = np.round(LEVELS * roots)
        start += count
    return SampledRows(
        levels,
        np.repeat([width for _, width in sides], [count for count, _ in sides]).astype(np.int64),
        np.repeat([_number(t.tokens) for t in texts], [c for c, _ in sides]).astype(np.int64),
    )


def _number(tokens: Sequence[str]) -> int:
    """A number of 63 bits for a sequence of tokens."""
    digest = hashlib.blake2b("\0".join(tokens).encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
