"""A layer's block at a quality, with its error measured on what the browser will have."""

from __future__ import annotations

from attnwidget.progress import step_done
from attnwidget.record import Layer
from attnwidget.wire.block import Block, encode_block

from .errors import float16_is_within
from .quality import LIMITS, Quality, check_quality
from .vectors import rounded_vectors
from .weights import rounded_weights


def encode_layer(layer: Layer, quality: Quality = "default") -> Block:
    """The block of a layer.

    "exact" is `encode_block`. Otherwise queries and keys, or the weights of a layer that was
    recorded as weights alone, are rounded as far as the quality allows and entropy-coded. Where
    that makes nothing smaller, as in a short text, and float16 moves attention no further, the
    block is the exact one; and so it is where numbers are too far apart to be coded.
    """
    check_quality(quality)
    block = _encoded(layer, quality)
    step_done()
    return block


def _encoded(layer: Layer, quality: Quality) -> Block:
    exact = encode_block(layer)
    if quality == "exact":
        return exact
    rounded = rounded_weights if layer.program is None else rounded_vectors
    found = rounded(layer, LIMITS[quality])
    if found is None or (found.size >= exact.size and float16_is_within(layer, LIMITS[quality])):
        return exact
    return found
