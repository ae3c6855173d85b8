"""A profile from the measurements of a model and of its nulls."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.record import Floats
from attnwidget.running.stacks import Group, Kind, numbers, titles
from attnwidget.tracing import CallId

from .accumulators import Estimate, Means
from .measurement import EXAMPLES, Measurement, Null, SampledText, unpacked
from .stack_profile import LEVELS, Picked, SampledRows, StackProfile

Estimates: TypeAlias = Mapping[str, Mapping[CallId, Estimate]]
"""By metric, by call, [heads] each; what is not known is left out."""


def estimates_of(*measurements: Measurement) -> Estimates:
    """All metrics of some measurements, and the variability of the first."""
    found: dict[str, dict[CallId, Estimate]] = {}
    for measured in measurements:
        for call, layer in measured.layers.items():
            means = layer.means.estimate()
            for row, name in enumerate(measured.names):
                found.setdefault(name, {})[call] = means.at(row)
        for name, by_call in measured.further.items():
            found[name] = {c: _estimate(texts, measured.seed) for c, texts in by_call.items()}
    first: dict[CallId, dict[int, Floats]] = {}
    for index, text in measurements[0].sample.items():
        for call, layer_of_text in text.layers.items():
            first.setdefault(call, {})[index] = layer_of_text.first
    seed = measurements[0].seed
    found["variability"] = {
        call: _estimate(variability(weights), seed) for call, weights in first.items()
    }
    return found


def _estimate(values: Mapping[int, Numbers], seed: int) -> Estimate:
    """The mean over texts of numbers [heads]."""
    [shape] = {each.shape for each in values.values()}
    means = Means.empty(shape, seed)
    means.add(values)
    return means.estimate()


def build_stacks(
    measured: Measurement, own: Estimates, nulls: Mapping[Null, Estimates], names: Sequence[str]
) -> dict[str, StackProfile]:
    """The stacks of a profile.

    Args:
        measured: the texts, by the model itself.
        own: all metrics of the model.
        nulls: the same by name of the null.
        names: the metrics, in order.
    """
    groups: dict[tuple[object, ...], list[CallId]] = {}
    # Layers without a softmax come last, as in records.
    for call, layer in sorted(measured.layers.items(), key=lambda each: not each[1].of_softmax):
        groups.setdefault((*layer.kind, layer.shape), []).append(call)
    kinds = (measured.layers[calls[0]].kind for calls in groups.values())
    named = titles(
        [
            Group(Kind(of_tower, cross), signed=mixing != "softmax")
            for of_tower, cross, _, mixing in kinds
        ]
    )
    return {
        name: _stack(calls, measured, own, nulls, names)
        for name, calls in zip(named, groups.values(), strict=True)
    }


def _stack(
    calls: Sequence[CallId],
    measured: Measurement,
    own: Estimates,
    nulls: Mapping[Null, Estimates],
    names: Sequence[str],
) -> StackProfile:
    layers = [measured.layers[call] for call in calls]
    heads = tuple(layer.heads for layer in layers)
    # The place of each metric of texts among all, and among those measured.
    rows = [names.index(name) for name in measured.names if name in names]
    kept = [row for row, name in enumerate(measured.names) if name in names]
    extremes = _none_picked((2, len(names), len(calls), max(heads), EXAMPLES))
    medians = _none_picked((len(names), len(calls), max(heads)))
    thumbnails = np.zeros((len(calls), max(heads), *layers[0].thumbnails.shape[1:]), np.float16)
    for number, (call, layer) in enumerate(zip(calls, layers, strict=True)):
        found, count = layer.extremes, layer.heads
        extremes.texts[:, rows, number, :count] = found.texts[:, kept]
        extremes.values[:, rows, number, :count] = found.values[:, kept]
        extremes.pairs[:, rows, number, :count] = unpacked(found.marks[:, kept])
        thumbnails[number, :count] = layer.thumbnails / layer.texts
        sample = {i: t.layers[call] for i, t in measured.sample.items() if call in t.layers}
        if sample:
            nearest, middles = _medians({index: of.values[kept] for index, of in sample.items()})
            medians.texts[rows, number, :count] = nearest
            medians.values[rows, number, :count] = middles
            for row, head in np.argwhere(nearest >= 0):
                pair = sample[int(nearest[row, head])].pairs[head]
                medians.pairs[rows[row], number, head] = unpacked(pair)
    return StackProfile(
        tuple(numbers([call.module for call in calls])),
        heads,
        _by_metric(own, calls, heads, names),
        {null: _by_metric(found, calls, heads, names) for null, found in nulls.items()},
        thumbnails,
        _sampled_rows(measured.sample, calls, heads),
        extremes,
        medians,
    )


def _none_picked(shape: tuple[int, ...]) -> Picked:
    return Picked(np.full(shape, -1), np.full(shape, np.nan), np.full((*shape, 2), -1))


def _by_metric(
    found: Estimates,
    calls: Sequence[CallId],
    heads: Sequence[int],
    names: Sequence[str],
) -> dict[str, Estimate]:
    """Every metric as arrays [layers, heads]."""
    shape = len(names), len(calls), max(heads)
    means, lows, highs = (np.full(shape, np.nan) for _ in range(3))
    counts = np.zeros(shape, np.int64)
    for row, name in enumerate(names):
        for layer, (call, count) in enumerate(zip(calls, heads, strict=True)):
            estimate = found.get(name, {}).get(call)
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
    sample: Mapping[int, SampledText], calls: Sequence[CallId], heads: Sequence[int]
) -> SampledRows:
    """The rows of all texts that every layer has."""
    texts = [text for _, text in sorted(sample.items()) if set(calls) <= text.layers.keys()]
    sides = [text.layers[calls[0]].rows.shape[1:] for text in texts]
    widest = max((width for _, width in sides), default=0)
    levels = np.zeros((len(calls), max(heads), sum(count for count, _ in sides), widest), np.uint8)
    start = 0
    for text, (count, width) in zip(texts, sides, strict=True):
        for layer, (call, of_layer) in enumerate(zip(calls, heads, strict=True)):
            roots = np.sqrt(np.clip(text.layers[call].rows.astype(np.float32), 0, 1))
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


def variability(first: Mapping[int, Floats]) -> dict[int, Numbers]:
    """Distance of a text's weights from the mean over texts: 0 if a head looks at positions alone.

    Σij |w[i, j] - m[i, j]| / (2 Σij w[i, j]), where m is the mean over texts, from 0 to 1; over the
    first 10 tokens, which most texts have, of a sample of 64 texts. Vig and Belinkov 2019,
    "Analyzing the Structure of Attention in a Transformer Language Model".

    Args:
        first: by text, the weights between the first tokens, float32 [heads, 10, 10]; NaN beyond
            the end of a text.

    Returns:
        By text, float64 [heads]; NaN with fewer than two texts.
    """
    weights = np.stack(list(first.values())).astype(np.float64)
    known = ~np.isnan(weights)
    weights = np.where(known, weights, 0)
    mean = weights.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    distances = np.where(known, np.abs(weights - mean), 0).sum(axis=(2, 3))
    totals = 2 * weights.sum(axis=(2, 3))
    shares = distances / np.where((totals > 0) & (len(first) > 1), totals, np.nan)
    return dict(zip(first, shares, strict=True))
