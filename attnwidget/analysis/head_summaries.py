"""Every head of a layer at a glance, in one pass over its weights, which are never all held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnwidget.progress import step_done
from attnwidget.record import Layer, Stack, spread_rows

from .metrics import Measure, Measures
from .row_batches import Chunks
from .thumbnails import Thumbnail

# Of so many queries, all are looked at.
_ALL_ROWS = 4096
# Of more, so many: 64 per line of a thumbnail.
_SAMPLED_ROWS = 2048


@dataclass(frozen=True)
class HeadSurvey:
    """What is shown of a head where all heads are: its picture's levels, and numbers."""

    levels: NDArray[np.uint8]
    measures: dict[Measure, float]


def sampled_rows(num_queries: int) -> int | None:
    """How many queries stand for all of so many in a survey, evenly spread; None if all do."""
    return None if num_queries <= _ALL_ROWS else _SAMPLED_ROWS


def survey(stack: Stack, layer: Layer) -> list[HeadSurvey]:
    """Every head of a layer of the stack."""
    num_queries, num_keys = layer.shape
    rows = spread_rows(num_queries, sampled_rows(num_queries) or num_queries)
    chunks = Chunks(layer, rows)
    heads = []
    for head in range(layer.num_heads):
        thumbnail = Thumbnail(layer.shape, (stack.queries.split, stack.keys.split))
        measures = Measures(num_keys, stack.keys.special)
        for chunk in chunks.of(head):
            thumbnail.add(chunk)
            measures.add(chunk)
        heads.append(HeadSurvey(thumbnail.levels(), measures.means()))
    step_done()
    return heads
