"""How far what the browser computes from a block may lie from the record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attnwidget.record import Floats, Layer

from .block import Block, decode_floats


def rounding_error(layer: Layer, weights: Floats, block: Block) -> float:
    """The largest difference between `weights` [heads, Tq, Tk] and those that the block gives."""
    sent: dict[str, Any] = {
        part["name"]: decode_floats(part, data)
        for part, data in zip(block.parts, block.buffers, strict=True)
        if part["dtype"] != "bits"
    }
    if layer.program is not None:
        added = {name: sent.pop(name, None) for name in ("bias", "relative")}
        sent["program"] = replace(layer.program, **added)
    received = replace(layer, **sent)
    return max(
        float(np.abs(received.head_weights(head) - weights[head]).max())
        for head in range(layer.num_heads)
    )
