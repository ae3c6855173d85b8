"""Encoding of a profile: metrics, patterns and thumbnails of heads over many texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import ALL_METRICS, PATTERNS, HeadPattern
from attnwidget.analysis.thumbnails import levels_of
from attnwidget.corpus import HeadProfile, ProfileMetric, StackProfile
from attnwidget.record import AttentionRecord, Fidelity, Layer, Stack, Tokens

from .manifest import EncodedHeads
from .metrics import HeadNumbers, SentMetric, digits_of

# Shares have four decimals at most where they are shown.
_SIGNIFICANT = 5

# The nearest heads that are sent of each.
_NEAREST = 5


class SentSimilarity(TypedDict):
    """The similarity of heads, as JSON.

    Attributes:
        label: the distance between two heads, as "Jensen-Shannon distance".
        places: by stack, by layer, of every head (x, y).
        nearest: likewise, (layer, head, distance) of the heads nearest to it, the nearest first.
        kept: the share of the variance of the distances that two dimensions keep; None if unknown.
    """

    label: str
    places: dict[str, list[list[list[float]]]]
    nearest: dict[str, list[list[list[tuple[int, int, float]]]]]
    kept: float | None


def encode_profile(profile: HeadProfile, record: AttentionRecord) -> EncodedHeads:
    """Encode what a profile says of the heads of a record, in place of the record's own.

    Raises:
        ValueError: the record has other layers or heads.
    """
    _check_same_heads(profile, record)
    return EncodedHeads(
        _metrics(profile), _patterns(profile), _levels(profile), texts=profile.num_texts
    )


def _check_same_heads(profile: HeadProfile, record: AttentionRecord) -> None:
    """Raise a ValueError unless the record has the layers and heads of the profile."""
    # The number of every layer, and of its heads.
    ours = {
        name: list(zip(stack.numbers, stack.heads, strict=True))
        for name, stack in ((name, profile.stack(name)) for name in profile.stacks)
    }
    theirs = {
        name: [(layer.number, layer.num_heads) for layer in record.stack(name).layers]
        for name in record.stacks
    }
    for name in {**ours, **theirs}:
        if name not in theirs and record.missing:
            raise ValueError(
                f"this text was read without {name!r}: {'; '.join(record.missing[:3])}"
            )
        if ours.get(name) != theirs.get(name):
            raise ValueError(
                f"the profile is of {profile.model or 'another model'}, and the text was read by "
                f"{record.model or 'another model'}: their heads in {name!r} differ; give the "
                "model of the profile"
            )


def heads_alone(profile: HeadProfile) -> AttentionRecord:
    """A record of the profile's heads over one token without a label: pictures show heads alone."""
    token = Tokens(("",))
    fidelity = Fidelity("profile", "", "weights", None, None, 0, 0)
    stacks = {}
    for name in profile.stacks:
        stack = profile.stack(name)
        layers = [
            Layer(
                queries=None,
                keys=None,
                program=None,
                weights=np.ones((heads, 1, 1), np.float32),
                fidelity=fidelity,
                number=number,
            )
            for number, heads in zip(stack.numbers, stack.heads, strict=True)
        ]
        stacks[name] = Stack(token, token, tuple(layers))
    return AttentionRecord(stacks, model=profile.model)


def _metrics(profile: HeadProfile) -> list[SentMetric]:
    """Encode the metrics of a profile with their intervals and nulls, for stacks that have them."""
    return [
        sent for metric in profile.metrics.values() if (sent := _metric(profile, metric))["values"]
    ]


def _patterns(profile: HeadProfile) -> dict[str, Any]:
    """Encode the words for every head, the rules behind them, and the index of their pattern."""
    patterns = {name: profile.patterns(name) for name in profile.stacks}

    def by_head(said: Callable[[HeadPattern], object]) -> dict[str, Any]:
        return {
            name: [[said(head) for head in heads] for heads in layers]
            for name, layers in patterns.items()
        }

    return {
        "kinds": list(PATTERNS),
        "values": by_head(lambda head: head.kind),
        "words": by_head(lambda head: head.words),
        "reasons": by_head(lambda head: ", ".join(head.reasons)),
    }


def _levels(profile: HeadProfile) -> dict[str, list[list[NDArray[np.uint8]]]]:
    """The mean thumbnail of every head in levels 0 to 15, [32, 32], by stack and layer."""
    return {
        name: [
            list(levels_of(thumbnails[:count].astype(np.float32)))
            for thumbnails, count in zip(stack.thumbnails, stack.heads, strict=True)
        ]
        for name, stack in ((name, profile.stack(name)) for name in profile.stacks)
    }


def encode_similarity(profile: HeadProfile) -> SentSimilarity:
    """Encode the similarity of all heads of a profile.

    Raises:
        ValueError: the profile has no sampled rows.
        ModuleNotFoundError: scikit-learn is not installed.
    """
    places, nearest = {}, {}
    shares = []
    for name in profile.stacks:
        found = profile.similarity(name)
        positions = found.positions()
        ends = np.cumsum(profile.stack(name).heads)
        near = iter(
            [(*other.head, float(other.distance)) for other in found.nearest(*head, count=_NEAREST)]
            for head in found.heads
        )
        places[name] = [layer.tolist() for layer in np.split(positions, ends[:-1])]
        nearest[name] = [list(islice(near, heads)) for heads in profile.stack(name).heads]
        shares.append(_share_kept(found.distances, positions))
    return {
        "label": "Jensen-Shannon divergence, nats",
        "places": places,
        "nearest": nearest,
        "kept": shares[0] if len(shares) == 1 else None,
    }


def _share_kept(distances: NDArray[np.float64], positions: NDArray[np.float64]) -> float | None:
    """The share of the distances' variance that the positions explain."""
    pairs = np.triu_indices(len(positions), 1)
    own = distances[pairs]
    placed = np.linalg.norm(positions[pairs[0]] - positions[pairs[1]], axis=1)
    if len(own) < 2 or not own.std() or not placed.std():
        return None
    return float(np.corrcoef(own, placed)[0, 1] ** 2)


def _metric(profile: HeadProfile, metric: ProfileMetric) -> SentMetric:
    known = ALL_METRICS.get(metric.name)
    directions = None if known is None else known.directions
    stacks = {name: profile.stack(name) for name in profile.stacks}
    estimates = {name: stack.estimates[metric.name] for name, stack in stacks.items()}
    means = _by_stack(stacks, {name: estimate.mean for name, estimate in estimates.items()})
    numbers = np.concatenate([estimate.mean.ravel() for estimate in estimates.values()])
    numbers = numbers[np.isfinite(numbers)]
    sent: SentMetric = {
        "name": metric.name,
        "label": metric.label,
        "unit": metric.unit,
        "digits": digits_of(numbers) if known is None else known.digits,
        "signed": bool((numbers < 0).any()) if known is None else directions is not None,
        "directions": None if directions is None else list(directions),
        "description": metric.description,
        "values": means,
    }
    if profile.null is not None:
        nulls = {
            name: stack.nulls[profile.null][metric.name].mean for name, stack in stacks.items()
        }
        if values := _by_stack(stacks, nulls):
            sent["null"] = {"label": profile.null, "values": values}
    low = _by_stack(stacks, {name: estimate.low for name, estimate in estimates.items()})
    high = _by_stack(stacks, {name: estimate.high for name, estimate in estimates.items()})
    if low and high:
        sent["interval"] = {"low": low, "high": high}
    return sent


def _by_stack(
    stacks: Mapping[str, StackProfile], values: Mapping[str, NDArray[np.float64]]
) -> HeadNumbers:
    """Numbers [layers, heads] of the stacks that have any."""
    return {
        name: [
            [_sent(value) for value in row[:count]]
            for row, count in zip(values[name].tolist(), stack.heads, strict=True)
        ]
        for name, stack in stacks.items()
        if np.isfinite(values[name]).any()
    }


def _sent(value: float) -> float | None:
    return float(f"{value:.{_SIGNIFICANT}g}") if np.isfinite(value) else None
