"""Compression of a layer's block, with its error. `js/src/data` decodes it.

A layer and limits of its error come in (limits.py), a packed block goes out: open `layer.py` first.
"""

from .layer import Packed, pack_block, pack_layer
from .limits import COMPACT, FINE, FINE_DIFFERENCES, LIMITS, Limits, Quality

__all__ = [
    "COMPACT",
    "FINE",
    "FINE_DIFFERENCES",
    "LIMITS",
    "Limits",
    "Packed",
    "Quality",
    "pack_block",
    "pack_layer",
]
