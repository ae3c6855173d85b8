"""Qualities of compression: bounds of the attention that rounding may move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from attnwidget.record import Layer
from attnwidget.wire.block import block_size

from .errors import float16_is_within

Quality = Literal["draft", "default", "exact"]

# In bytes; by default, layers that take less in all are sent as float16, because rounding would
# save little of a page, which has the views as well.
_SMALL = 1 << 19

# The mean total variation of a row: the share of its attention that moves to other keys. "exact",
# which is float16, has no limit.
LIMITS: dict[str, float] = {"draft": 0.02, "default": 0.0075}


def fitting(quality: Quality, layers: Sequence[Layer]) -> Quality:
    """The quality, or "exact" instead of "default" if the layers are small in all.

    "default" is kept if float16 has a larger error, as for keys with a large offset.
    """
    if quality != "default" or sum(map(block_size, layers)) > _SMALL:
        return quality
    limit = LIMITS[quality]
    return "exact" if all(float16_is_within(layer, limit) for layer in layers) else quality


def check_quality(quality: str) -> None:
    """Raise a ValueError if there is no such quality."""
    names = get_args(Quality)
    if quality not in names:
        raise ValueError(f"quality is {quality!r}; expected one of {', '.join(map(repr, names))}")
