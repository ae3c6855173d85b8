"""What of a head is shown: a record's matrices become thumbnails and numbers."""

from .chunk import Chunks
from .combined import combined
from .measures import MEASURES, Measure
from .survey import HeadSurvey, sampled_rows, survey

__all__ = [
    "MEASURES",
    "Chunks",
    "HeadSurvey",
    "Measure",
    "combined",
    "sampled_rows",
    "survey",
]
