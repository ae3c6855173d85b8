"""Nulls of position: the metrics of attention that knows nothing but the places of tokens.

Both are measured on the sampled texts of a measurement, and, for metrics of repeated tokens, on
these; they need no further pass of the model.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.record import Floats

from .accumulators import FARTHEST
from .measurement import Measurement
from .meter import Meter, MetricSet

NEAREST = range(-5, 6)
"""The offsets among which "best offset" finds the best, as in Clark et al. 2019, table 1."""


def _position_alone(metrics: MetricSet, measured: Measurement, texts: Measurement) -> Measurement:
    """The metrics of attention that depends on relative position alone.

    For a head, m(d) is the mean weight on the key at offset d, over the queries of all texts that
    have such a key. Here, query i gives key j the weight m(j - i) / Σk m(k - i), where k runs over
    all keys of the text. Offsets beyond 512 on either side count as one; offsets beyond all texts
    have the weight of the farthest.

    Args:
        metrics: those of `measured`.
        measured: has the sampled texts, which are read with these weights.
        texts: has the mean weights.
    """
    return _measured_with(_by_position, metrics, measured, texts)


def _best_offset(metrics: MetricSet, measured: Measurement, texts: Measurement) -> Measurement:
    """The metrics of attention that gives all weight to the key at one offset, the best one.

    Each metric is measured for every offset from -5 to 5 at which a head of the layer has any
    weight, over the queries that have such a key; its null is that of the largest size, the same
    for all heads of the layer. It says how far a fixed rule gets: Clark et al. 2019, table 1.

    Args:
        metrics: those of `measured`.
        measured: has the sampled texts, which are read with these weights.
        texts: says which offsets have any weight.
    """
    null = _measured_with(_on_offsets, metrics, measured, texts)
    for call, layer in null.layers.items():
        sizes = np.abs(layer.means.estimate().mean)
        best = np.where(np.isnan(sizes), -1, sizes).argmax(axis=1)[None, :, None]
        for name in ("sums", "counts"):
            of_best = np.take_along_axis(getattr(layer.means, name), best, axis=2)
            setattr(layer.means, name, of_best.repeat(measured.layers[call].heads, axis=2))
    null.sample.clear()  # of offsets, not of heads
    return null


OF_POSITION = {"position": _position_alone, "best offset": _best_offset}
"""The functions that measure the nulls of position, by their names."""


def _measured_with(
    make: Callable[[Numbers, int], Floats],
    metrics: MetricSet,
    measured: Measurement,
    texts: Measurement,
) -> Measurement:
    """The metrics of other weights on the sampled texts of a measurement.

    Args:
        make: returns weights [heads, T, T] from the mean weights by offset, and T.
    """
    null = Measurement(metrics.names, texts.seed)
    meter = Meter(metrics, null, offsets=False)
    for index, text in sorted(measured.sample.items()):
        for call, sampled in text.layers.items():
            layer = texts.layers.get(call)
            # Cross-attention has offsets only where a text is its own target.
            if sampled.own is not None and layer is not None and layer.offsets is not None:
                weights = make(layer.offsets.means(), len(sampled.own))
                meter.add(call, layer.kind, index, weights, sampled.own, sampled.own)
        meter.finish()
    return null


def _by_position(means: Numbers, length: int) -> Floats:
    """The weights that follow from mean weights by offset, float32 [heads, T, T]."""
    weights = means[:, FARTHEST + _offsets(length).clip(-FARTHEST, FARTHEST)]
    totals = weights.sum(axis=2, keepdims=True)
    found: Floats = (weights / np.where(totals > 0, totals, 1)).astype(np.float32)
    return found


def _on_offsets(means: Numbers, length: int) -> Floats:
    """All weight on each of `NEAREST`, float32 [offsets, T, T]; none where no head has any."""
    offsets = np.array(NEAREST)
    seen = (means[:, FARTHEST + offsets] > 0).any(axis=0)
    chosen = (_offsets(length) == offsets[:, None, None]) & seen.reshape(-1, 1, 1)
    weights: Floats = chosen.astype(np.float32)
    return weights


def _offsets(length: int) -> NDArray[np.int64]:
    """The position of the key less that of the query, int64 [T, T]."""
    places = np.arange(length)
    return places - places[:, None]
