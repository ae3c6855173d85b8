"""Packed blocks, as pages and widget states keep them."""

from __future__ import annotations

import zlib
from typing import Any

from attnwidget.wire.block import Block


def pack(block: Block) -> tuple[dict[str, Any], bytes]:
    """Pack a block as ({parts, error}, its concatenated buffers compressed by zlib)."""
    # zlib does not shrink coded integers, but float16, masks and biases.
    data = zlib.compress(b"".join(block.buffers), 9)
    return {"parts": block.parts, "error": block.error}, data
