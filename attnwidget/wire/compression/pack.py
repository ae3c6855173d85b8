"""A block in compressed form, as a page or a widget's state keeps it until it is opened."""

from __future__ import annotations

import zlib
from typing import Any

from attnwidget.wire.block import Block


def pack(block: Block) -> tuple[dict[str, Any], bytes]:
    """({parts, error}, the parts' bytes one after the other, as zlib writes them)."""
    # Coded integers are as small as they get; float16, masks and biases are not.
    data = zlib.compress(b"".join(block.buffers), 9)
    return {"parts": block.parts, "error": block.error}, data
