"""What of a head is shown: a record's matrices become thumbnails and numbers."""

from .measures import measures
from .thumbnail import thumbnail

__all__ = ["measures", "thumbnail"]
