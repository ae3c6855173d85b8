"""What of a head is shown: a record's matrices become thumbnails and numbers."""

from .combined import combined
from .measures import Measure, measures
from .thumbnail import thumbnail

__all__ = ["Measure", "combined", "measures", "thumbnail"]
