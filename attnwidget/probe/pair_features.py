"""The features of two words of a text for classifiers: weights of all heads, or distance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from attnwidget.record import Floats

from .annotated import Annotated
from .word_attention import WordAttention

_FARTHEST = 10
"""Distances above are one."""

Features: TypeAlias = Callable[[WordAttention[Annotated]], Floats | None]
"""Of a text, what is known of each word and another: float32 [features, words, words], or None."""


def _of_heads(weights: Floats) -> Floats:
    """The weights from a word to another, and back: 2 * layers * heads features."""
    flat = weights.reshape(-1, *weights.shape[2:])
    return np.concatenate([flat, flat.swapaxes(1, 2)])


def _distance(read: WordAttention[Annotated]) -> Floats:
    """1 for the signed distance of two words."""
    places = np.arange(len(read.text))
    near = (places - places[:, None]).clip(-_FARTHEST, _FARTHEST)
    columns: Floats = np.eye(2 * _FARTHEST + 1, dtype=np.float32)[:, near + _FARTHEST]
    return columns


FEATURES: Mapping[str, Features] = {
    "own": lambda read: _of_heads(read.weights),
    "null": lambda read: None if read.null is None else _of_heads(read.null),
    "distance": _distance,
}
