"""How far attention may move when a layer is made small."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from attnwidget.record import Layer
from attnwidget.wire.block import block_size

from .errors import float16_is_within

Quality = Literal["draft", "default", "exact"]

# As much as all layers of a record may take as float16 for rounding to be left out by default: it
# would save little of a page that holds the views as well.
_SMALL = 1 << 19

# The mean total variation of a row: the share of its attention that goes elsewhere. "exact" has
# none, because it is float16.
LIMITS: dict[str, float] = {"draft": 0.02, "default": 0.0075}


def fitting(quality: Quality, layers: Sequence[Layer]) -> Quality:
    """The quality, or "exact" instead of "default" where these layers are small all together.

    Not if float16 would move attention further: that of keys with a large offset is coarse.
    """
    if quality != "default" or sum(map(block_size, layers)) > _SMALL:
        return quality
    limit = LIMITS[quality]
    return "exact" if all(float16_is_within(layer, limit) for layer in layers) else quality


def check_quality(quality: str) -> None:
    """Raise a ValueError unless there is such a quality."""
    known = get_args(Quality)
    if quality not in known:
        raise ValueError(f"quality is {quality!r}; expected one of {', '.join(map(repr, known))}")
