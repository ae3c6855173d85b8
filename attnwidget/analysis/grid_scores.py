"""GridScores: a number for every cell of a grid over layers, heads and positions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .metrics import Numbers
from .table import Tabular, data_frame, largest_first

if TYPE_CHECKING:
    import pandas as pd

By = Literal["layer×position", "layer", "head", "head×position"]


@dataclass(frozen=True)
class GridScores(Tabular):
    """A number for every cell of a grid, and the same of a null if there is one.

    Attributes:
        name: what the number is, in a word or two.
        description: the same in a sentence.
        site: the place in a layer, as of `attnwidget.Ablate`.
        by: what rows and columns are: layers by positions; layers, in one column; layers by heads;
            or heads, as "3-5", by positions.
        rows: the labels of the rows.
        columns: the labels of the columns; of positions, their tokens.
        values: the numbers, float64 [rows, columns]; NaN where one is not known.
        null: the numbers of the null, in the same form; None without one.
        null_label: what the null is; None without one.
        measured_on: the texts, in words.
        unit: of the numbers; "" for none.
        missing: what could not be measured, as "layer 3: reason".
    """

    name: str
    description: str
    site: str
    by: By
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Numbers = field(repr=False)
    null: Numbers | None = field(default=None, repr=False)
    null_label: str | None = None
    measured_on: str = ""
    unit: str = ""
    missing: tuple[str, ...] = ()

    _counted = "cells"

    def __repr__(self) -> str:
        most = ""
        if not np.isnan(self.values).all():
            row, column = divmod(int(np.nanargmax(np.abs(self.values))), len(self.columns))
            most = f", most {self.values[row, column]:.3g} at {self.place(row, column)}"
        known = int((~np.isnan(self.values)).sum())
        part = "" if known == self.values.size else f", {known} of {self.values.size} known"
        beside = f"; beside {self.null_label}" if self.null_label else ""
        size = f"{len(self.rows)} × {len(self.columns)}"
        return f"<GridScores, {self.name} at {self.site}, {self.by} {size}{part}{most}{beside}>"

    def place(self, row: int, column: int) -> str:
        """A cell in words, as "layer 3, position 9 John"."""
        of_rows, of_columns = self.axes
        at = f"{of_rows} {self.rows[row]}"
        if not of_columns:
            return at
        alone = of_columns == "head" or self.columns[column] == str(column)
        number = "" if alone else f"{column} "
        return f"{at}, {of_columns} {number}{self.columns[column]}"

    @property
    def axes(self) -> tuple[str, str]:
        """The words for rows and columns; "" for one column alone."""
        first, _, second = self.by.partition("×")
        return ("layer", "head") if self.by == "head" else (first, second)

    def table(self) -> pd.DataFrame:
        """The numbers as a table of pandas, a row per cell, by rows.

        Columns: layer or head; head, or position and its token; the number by its name; and null
        if known.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        of_rows, of_columns = self.axes
        count = len(self.columns)
        columns: dict[str, list[Any]] = {
            of_rows: [_number(label) for label in self.rows for _ in range(count)]
        }
        if of_columns == "head":
            columns["head"] = [int(label) for label in self.columns] * len(self.rows)
        elif of_columns:
            columns["position"] = [*range(count)] * len(self.rows)
            columns["token"] = [*self.columns] * len(self.rows)
        columns[self.name] = self.values.ravel().tolist()
        if self.null is not None:
            columns["null"] = self.null.ravel().tolist()
        return data_frame(columns)

    def _shown(self, rows: pd.DataFrame) -> tuple[str, pd.DataFrame]:
        return "", largest_first(rows, self.name)


def _number(label: str) -> int | str:
    return int(label) if label.isdigit() else label
