"""HeadScores: a number for every head of a model, as numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from attnwidget.counted import counted
from attnwidget.record import of_stack, spans

from .metrics import Numbers
from .table import Tabular, data_frame, largest_first

if TYPE_CHECKING:
    import pandas as pd

Rows: TypeAlias = Mapping[str, Mapping[int, Numbers]]
"""By stack, by the layer's number in the model, a number for each head: float64 [heads]."""


# For errors.
_OWNER = "this result"


class HeadScore(NamedTuple):
    """The number of one head: its layer, the head in that, and the value."""

    layer: int
    head: int
    value: float


@dataclass(frozen=True)
class HeadScores(Tabular):
    """A number for every head, and the same of a null if there is one.

    Whatever measures heads returns this: views, tables and plots take all of it alike, as
    ``aw.show(record, metrics={scores.name: scores})``.

    Attributes:
        name: what the number is, in a word or two.
        description: the same in a sentence.
        rows: the numbers: by stack, by the layer's number in the model, float64 [heads].
        unit: of the numbers, as "nats"; "" for none.
        signed: True if the sign of a number matters, so that zero is the middle.
        measured_on: the texts that were read, as "12 texts".
        null: the numbers of the null, in the form of `rows`; None without one.
        null_label: what the null is; None without one.
        low, high: the ends of the 95% interval of each number, in the same form; None without.
        missing: attention that could not be measured, as "module: reason".
    """

    name: str
    description: str
    rows: Rows = field(repr=False)
    unit: str = ""
    signed: bool = False
    measured_on: str = ""
    null: Rows | None = field(default=None, repr=False)
    null_label: str | None = None
    low: Rows | None = field(default=None, repr=False)
    high: Rows | None = field(default=None, repr=False)
    missing: tuple[str, ...] = ()

    def __repr__(self) -> str:
        stacks = []
        for stack in self.stacks:
            heads = self.ranking(stack)
            most = (
                f", most in {heads[0].layer}-{heads[0].head}: {heads[0].value:.3g}" if heads else ""
            )
            stacks.append(f"{stack}: {counted(len(heads), 'head')}{most}")
        of = f" of {self.measured_on}" if self.measured_on else ""
        beside = f"; beside {self.null_label}" if self.null_label else ""
        return f"<HeadScores, {self.name}{of} ({'; '.join(stacks)}){beside}>"

    @property
    def stacks(self) -> tuple[str, ...]:
        """Names of the stacks, as those of `AttentionRecord.stacks`."""
        return tuple(self.rows)

    def layers(self, stack: str | None = None) -> tuple[int, ...]:
        """The numbers of the layers of a stack; of the first one if `stack` is None.

        Raises:
            KeyError: there is no such stack.
        """
        return tuple(of_stack(self.rows, stack, _OWNER))

    def values(self, stack: str | None = None) -> Numbers:
        """The numbers of a stack, float64 [layers, heads]; of the first one if `stack` is None.

        NaN stands where a layer has fewer heads than another.

        Raises:
            KeyError: there is no such stack.
        """
        return _array(of_stack(self.rows, stack, _OWNER))

    def null_values(self, stack: str | None = None) -> Numbers:
        """The numbers of the null, as those of `values`.

        Raises:
            KeyError: there is no such stack.
            ValueError: there is no null.
        """
        if self.null is None:
            raise ValueError("these numbers have no null")
        return _array(of_stack(self.null, stack, _OWNER))

    def band(self, stack: str | None = None, *, layer: int | None = None) -> tuple[float, float]:
        """The 2.5th and the 97.5th percentile of the null over the heads of a layer, or of all.

        A number above the band is larger than by chance, one below it smaller. Layers differ, so
        compare a head with the band of its layer. That rests on as many random numbers as the layer
        has heads: with 12 of them, 9% of heads that do no more than chance lie above the band, and
        9% below.

        Args:
            stack: as in `values`.
            layer: the number of a layer; all layers of the stack together if None, as for
                `ablation_scan(by="layer")`, whose layers have one random number each.

        Raises:
            KeyError: there is no such stack.
            IndexError: the stack has no numbers of this layer.
            ValueError: there is no null.
        """
        null, layers = self.null_values(stack), self.layers(stack)
        if layer is not None:
            if layer not in layers:
                raise IndexError(f"no numbers of layer {layer}; there are {spans(layers)}")
            null = null[layers.index(layer)]
        return null_range(null) or (float("nan"), float("nan"))

    def ranking(self, stack: str | None = None) -> list[HeadScore]:
        """The heads of a stack, the largest absolute number first.

        Raises:
            KeyError: there is no such stack.
        """
        known = [
            HeadScore(layer, head, value)
            for layer, row in of_stack(self.rows, stack, _OWNER).items()
            for head, value in enumerate(row.tolist())
            if not np.isnan(value)
        ]
        return sorted(known, key=lambda score: -abs(score.value))

    def table(self) -> pd.DataFrame:
        """The numbers as a table of pandas, the heads in the order of the model.

        Columns: stack, layer, head, the number by its name, and low, high and null if known.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        beside = {"low": self.low, "high": self.high, "null": self.null}
        numbers = {self.name: self.rows} | {
            name: rows for name, rows in beside.items() if rows is not None
        }
        heads = [
            (stack, layer, head)
            for stack, layers in self.rows.items()
            for layer, row in layers.items()
            for head in range(len(row))
        ]
        columns: dict[str, Any] = dict(
            zip(("stack", "layer", "head"), zip(*heads, strict=True), strict=False)
        )
        for name, rows in numbers.items():
            columns[name] = [float(rows[stack][layer][head]) for stack, layer, head in heads]
        return data_frame(columns)

    def _shown(self, rows: pd.DataFrame) -> tuple[str, pd.DataFrame]:
        return "", largest_first(rows, self.name)


def _array(rows: Mapping[int, Numbers]) -> Numbers:
    """Rows of one length, filled with NaN: float64 [layers, heads]."""
    array = np.full((len(rows), max(map(len, rows.values()))), np.nan)
    for place, row in enumerate(rows.values()):
        array[place, : len(row)] = row
    return array


def null_range(null: Numbers | None) -> tuple[float, float] | None:
    """The 2.5th and the 97.5th percentile of the known numbers of a null; None without any."""
    known = () if null is None else null[np.isfinite(null)]
    if not len(known):
        return None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)
