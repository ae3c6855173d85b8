"""Encoding of a layer at a quality, with the error of the weights that the browser computes."""

from __future__ import annotations

from attnwidget.progress import step_done
from attnwidget.record import Layer
from attnwidget.wire.block import Block, encode_block

from .errors import float16_is_within
from .quality import LIMITS, Quality, check_quality
from .vectors import rounded_vectors
from .weights import rounded_weights


def encode_layer(layer: Layer, quality: Quality = "default") -> Block:
    """Encode a layer at a quality.

    "exact" is `encode_block`. Otherwise queries and keys, or the weights of a layer that was
    recorded as weights alone, are rounded as far as the quality allows and entropy-coded. The block
    is still the exact one if it is no larger, as for a short text, and float16 is within the limit,
    or if the range of the numbers is too large for the coder.
    """
    check_quality(quality)
    block = _encoded(layer, quality)
    step_done()
    return block


def _encoded(layer: Layer, quality: Quality) -> Block:
    exact = encode_block(layer)
    if quality == "exact":
        return exact
    encode = rounded_weights if layer.program is None else rounded_vectors
    limit = LIMITS[quality]
    rounded = encode(layer, limit)
    if rounded is None or (rounded.size >= exact.size and float16_is_within(layer, limit)):
        return exact
    return rounded
