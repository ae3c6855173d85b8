"""Metrics: one number per head.

The shares on the previous, same and next token and on special tokens, and the entropy, are
those of Clark et al. 2019, "What Does BERT Look At?" (sections 3.1 to 3.3), here for one text; the
distance is that of Vig and Belinkov 2019, "Analyzing the Structure of Attention in a Transformer
Language Model", with its sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats

from .row_batches import RowBatch

Metric = Literal["entropy", "distance", "previous", "same", "next", "first", "special"]
METRICS: tuple[Metric, ...] = get_args(Metric)

_NEIGHBOURS: dict[Metric, int] = {"previous": -1, "same": 0, "next": 1}


class HeadMetrics:
    """The metrics of one head, averaged over the queries that see any key.

    "entropy" in nats; "distance", the mean of key position - query position; and the shares of
    attention on the "previous", "same" and "next" token (over the queries that have one), on the
    "first" key, and on "special" keys.

    Args:
        num_keys: Tk.
        special: positions of special keys.
    """

    def __init__(self, num_keys: int, special: Sequence[int]) -> None:
        self._num_keys = num_keys
        self._special = np.array(special, np.intp)
        self._sums, self._counts = np.zeros((2, len(METRICS)))

    def add(self, batch: RowBatch) -> None:
        rows, keys, exps, totals = batch.rows, batch.keys, batch.exps, batch.totals
        mass = batch.sums / totals
        # Those that see no key add nothing to any sum.
        live = mass > 0
        # The sum of -w log w, where log w is an exponential's logarithm less that of the total.
        products = np.einsum("ij,ij->i", exps, batch.logs)
        self._add("entropy", mass * np.log(totals) - products / totals, live)
        # Counted from the middle of the rows, positions are small: they are added up in single
        # precision.
        middle = int(rows[len(rows) // 2])
        positions = np.arange(keys.start - middle, keys.stop - middle, dtype=np.float32)
        moment = np.einsum("ij,j->i", exps, positions)
        self._add("distance", moment / totals - mass * (rows - middle), live)
        self._add("first", exps[:, : int(keys.start == 0)].T / totals, live)
        special = self._special[(self._special >= keys.start) & (self._special < keys.stop)]
        self._add("special", exps.T[special - keys.start] / totals, live)
        for name, offset in _NEIGHBOURS.items():
            counted, seen = (
                slice(*np.searchsorted(rows, (first - offset, end - offset)))
                for first, end in ((0, self._num_keys), (keys.start, keys.stop))
            )
            found = exps[np.arange(len(rows))[seen], rows[seen] + (offset - keys.start)]
            self._add(name, found / totals[seen], live[counted])

    def _add(self, name: Metric, values: Floats, counted: NDArray[np.bool_]) -> None:
        index = METRICS.index(name)
        self._sums[index] += values.sum(dtype=np.float64)
        self._counts[index] += np.count_nonzero(counted)

    def means(self) -> dict[Metric, float]:
        """Every metric, to four decimals."""
        means = self._sums / np.maximum(self._counts, 1)
        return {name: round(float(mean), 4) for name, mean in zip(METRICS, means, strict=True)}
