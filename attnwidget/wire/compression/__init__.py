"""A layer's block in few bytes, and the error that this makes. `js/src/data` reads it."""

from .layer import encode_layer
from .pack import pack
from .quality import Quality, check_quality, fitting

__all__ = ["Quality", "check_quality", "encode_layer", "fitting", "pack"]
