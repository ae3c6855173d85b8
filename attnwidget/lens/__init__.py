"""What of a head is shown: a record's matrices become thumbnails and numbers."""

from .measures import MEASURES, measures
from .thumbnail import THUMBNAIL_SIZE, thumbnail

__all__ = ["MEASURES", "THUMBNAIL_SIZE", "measures", "thumbnail"]
