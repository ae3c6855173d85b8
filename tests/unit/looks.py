"""Thumbnails and metrics of handmade weights."""

from collections.abc import Sequence

import numpy as np

from attnwidget.analysis.metrics import METRICS, HeadMetrics
from attnwidget.analysis.row_batches import RowBatch, batch_of_weights
from attnwidget.analysis.thumbnails import Thumbnails
from attnwidget.record import Floats, Tokens


def thumbnail(weights: Floats, splits: tuple[int | None, int | None]) -> np.ndarray:
    """Levels [heads, lines, cells] of weights [heads, Tq, Tk]."""
    thumbnails = Thumbnails(len(weights), weights.shape[1:], splits)
    thumbnails.add(_whole(weights))
    return thumbnails.levels()


def metrics(weights: Floats, special: Sequence[int]) -> dict[str, list[float]]:
    """Per metric, a number for each head of weights [heads, Tq, Tk]; NaN if no query counts."""
    metrics = HeadMetrics(METRICS, Tokens(("t",) * weights.shape[2], special=tuple(special)))
    metrics.add(_whole(weights))
    return {name: means.tolist() for name, means in metrics.means().items()}


def _whole(weights: Floats) -> RowBatch:
    return batch_of_weights(weights, np.arange(weights.shape[-2]))
