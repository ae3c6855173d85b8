"""What of a head is shown: a record's matrices become thumbnails and numbers."""

from .chunk import chunks
from .combined import combined
from .measures import MEASURES, Measure
from .survey import HeadSurvey, sampled_rows, survey

__all__ = [
    "MEASURES",
    "HeadSurvey",
    "Measure",
    "chunks",
    "combined",
    "sampled_rows",
    "survey",
]
