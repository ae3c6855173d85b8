"""What of a head is shown: a record's matrices become thumbnails and numbers."""

from .combined_heads import combined
from .head_summaries import HeadSurvey, sampled_rows, survey
from .metrics import MEASURES, Measure
from .row_batches import Chunks

__all__ = [
    "MEASURES",
    "Chunks",
    "HeadSurvey",
    "Measure",
    "combined",
    "sampled_rows",
    "survey",
]
