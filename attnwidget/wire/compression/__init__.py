"""Compression of a layer's block, with its error. `js/src/data` decodes it."""

from .layer import encode_layer
from .pack import pack
from .quality import Quality, check_quality, fitting

__all__ = ["Quality", "check_quality", "encode_layer", "fitting", "pack"]
