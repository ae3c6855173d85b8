"""PruneCurve: a loss by the number of heads that are switched off, as numpy arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from attnwidget.analysis import Numbers, data_frame

if TYPE_CHECKING:
    import pandas as pd


class Head(NamedTuple):
    """A head of a model."""

    stack: str
    layer: int
    head: int


@dataclass(frozen=True)
class PruneCurve:
    """The loss as heads are switched off one after the other, beside random orders.

    Attributes:
        order: the heads in the order in which they go.
        counts: the numbers of heads that are off, [points].
        losses: the mean loss of the texts, float64 [points].
        random: the same for heads in random orders, float64 [orders, points].
    """

    order: tuple[Head, ...] = field(repr=False)
    counts: tuple[int, ...]
    losses: Numbers
    random: Numbers = field(repr=False)

    @property
    def shares(self) -> tuple[float, ...]:
        """The shares of heads that are off, [points]."""
        return tuple(count / len(self.order) for count in self.counts)

    def removable(self, tolerance: float = 0.05) -> int:
        """The number of heads that can go until the loss first grows by more than this share."""
        limit = self.losses[0] + tolerance * abs(self.losses[0])
        within = 0
        for count, loss in zip(self.counts, self.losses, strict=True):
            if loss > limit:
                break
            within = count
        return within

    def table(self) -> pd.DataFrame:
        """The curve as a table of pandas: heads off, their share, loss, and random orders' mean,
        lowest and highest loss.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        columns: dict[str, Any] = {
            "heads": self.counts,
            "share": self.shares,
            "loss": self.losses,
        }
        if len(self.random):
            columns |= {
                "random": self.random.mean(axis=0),
                "random_low": self.random.min(axis=0),
                "random_high": self.random.max(axis=0),
            }
        return data_frame(columns)
