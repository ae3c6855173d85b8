"""EdgeScores: a number for every edge from a head to what a later head reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .metrics import Numbers
from .table import Tabular, data_frame, largest_first

if TYPE_CHECKING:
    import pandas as pd


class Receiver(NamedTuple):
    """The queries, keys or values of a later head.

    Attributes:
        layer: its number.
        into: "queries", "keys" or "values".
        head: its number; of keys and values, among those of the layer, which heads may share.
    """

    layer: int
    into: str
    head: int


class Edge(NamedTuple):
    """An edge between two heads, and its number.

    Attributes:
        layer, head: the head that writes.
        to_layer, into, to_head: what reads, as of `Receiver`.
        score: the number.
        null: that of the null; NaN without one.
    """

    layer: int
    head: int
    to_layer: int
    into: str
    to_head: int
    score: float
    null: float


@dataclass(frozen=True)
class EdgeScores(Tabular):
    """A number for every edge from a head to what a later head reads.

    Attributes:
        name: what the number is, in a word or two.
        description: the same in a sentence.
        senders: the heads that write, as (layer, head).
        receivers: what reads.
        values: the numbers, float64 [senders, receivers]; NaN where the receiver is not in a later
            layer.
        null: the numbers of the null, in the same form; None without one.
        null_label: what the null is; None without one.
        measured_on: the texts, in words.
        missing: what has no number, as "layer 3: reason".
    """

    name: str
    description: str
    senders: tuple[tuple[int, int], ...]
    receivers: tuple[Receiver, ...]
    values: Numbers = field(repr=False)
    null: Numbers | None = field(default=None, repr=False)
    null_label: str | None = None
    measured_on: str = ""
    missing: tuple[str, ...] = ()

    _counted = "edges"

    def __repr__(self) -> str:
        count = int((~np.isnan(self.values)).sum())
        most = ""
        for edge in self.top(1):
            to = f"{edge.into} of {edge.to_layer}-{edge.to_head}"
            most = f", most {edge.score:.3g} from {edge.layer}-{edge.head} to {to}"
        beside = f"; beside {self.null_label}" if self.null_label else ""
        return f"<EdgeScores, {self.name}, {count:,} edges{most}{beside}>"

    def top(self, count: int = 10) -> list[Edge]:
        """The edges with the largest absolute numbers, the largest first."""
        return list(self._edges(self._ordered()[:count]))

    def table(self) -> pd.DataFrame:
        """The edges as a table of pandas, by the layers and heads that write, and then that read.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        edges = list(self._edges(np.flatnonzero(~np.isnan(self.values))))
        names = [name for name in Edge._fields if self.null is not None or name != "null"]
        return data_frame({name: [getattr(edge, name) for edge in edges] for name in names})

    def _ordered(self) -> np.ndarray[Any, Any]:
        """The places of edges in the flat numbers, the largest first."""
        flat = np.abs(self.values).ravel()
        return np.argsort(-flat, kind="stable")[: int((~np.isnan(flat)).sum())]

    def _edges(self, places: np.ndarray[Any, Any]) -> Iterator[Edge]:
        for place in places.tolist():
            sender, receiver = divmod(place, len(self.receivers))
            null = np.nan if self.null is None else self.null[sender, receiver]
            score = float(self.values[sender, receiver])
            yield Edge._make((*self.senders[sender], *self.receivers[receiver], score, float(null)))

    def _shown(self, rows: pd.DataFrame) -> tuple[str, pd.DataFrame]:
        return "", largest_first(rows, "score")
