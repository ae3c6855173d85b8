"""Tables of pandas, which is imported only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from attnwidget.extras import extra
from attnwidget.record import AttentionRecord

from .metrics import SIGNED_METRICS, HeadMetrics, metrics_of
from .row_batches import RowBatches
from .token_metrics import ALL_METRICS

if TYPE_CHECKING:
    import pandas as pd

# The most rows that a notebook shows of a longer table.
MOST_ROWS = 20


def metrics(record: AttentionRecord) -> pd.DataFrame:
    """The metrics of every head on one text, as a table: a row per stack, layer and head.

    Columns: stack, layer, head, and the metrics by name, NaN where one is not defined (those of
    neighbours in cross-attention, those of punctuation in a text without any). Of layers without a
    softmax, they are of the magnitudes of coefficients; a record of such has `SIGNED_METRICS`, too.

    Raises:
        ModuleNotFoundError: pandas is not installed: pip install 'attnwidget[analysis]'.
    """
    rows: list[dict[str, Any]] = []
    for name in record.stacks:
        stack = record.stack(name)
        defined = metrics_of(stack, ALL_METRICS)
        for layer in stack.layers:
            batches = RowBatches(layer, np.arange(layer.shape[0]))
            for heads in batches.groups:
                summed = HeadMetrics(defined, stack.keys)
                for batch in batches.of(heads):
                    summed.add(batch)
                means = summed.means()
                for at, head in enumerate(range(heads.start, heads.stop)):
                    numbers = {key: float(each[at]) for key, each in means.items()}
                    rows.append({"stack": name, "layer": layer.number, "head": head, **numbers})
    signed = SIGNED_METRICS if any(record.stack(name).signed for name in record.stacks) else ()
    names = ("stack", "layer", "head", *ALL_METRICS, *signed)
    return data_frame({key: [row.get(key, np.nan) for row in rows] for key in names})


def data_frame(columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """A table of pandas.

    Raises:
        ModuleNotFoundError: pandas is not installed.
    """
    with extra("analysis", "a table needs pandas"):
        import pandas as pd
    return pd.DataFrame(columns)


class Tabular:
    """A result with a table, which notebooks show below its `repr`; without pandas, that alone."""

    # What the rows of the table are.
    _counted = "heads"

    def table(self) -> pd.DataFrame:
        raise NotImplementedError

    def summary(self) -> pd.DataFrame:
        """The part of the table that notebooks show: here all of it."""
        return self.table()

    def _shown(self, rows: pd.DataFrame) -> tuple[str, pd.DataFrame]:
        """A line on the summary, "" for none, and its rows that notebooks show: here its ends."""
        return "", rows

    def _repr_html_(self) -> str | None:
        try:
            rows = self.summary()
        except ModuleNotFoundError:
            return None
        line, shown = self._shown(rows)
        lines = [repr(self), line]
        if len(shown) < len(rows):
            many = f"{len(shown)} of {len(rows):,} {self._counted}"
            lines.append(f"{many}, the most telling ones; summary() has all.")
        table: str = shown.to_html(
            # Rows in another order than that of the summary have no number.
            index=shown is rows,
            max_rows=MOST_ROWS,
            float_format="{:.3g}".format,
            na_rep="",
        )
        return "".join(f"<p>{escape(each)}</p>" for each in lines if each) + table


def largest_first(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows with the largest absolute numbers in a column, as many as notebooks show."""
    ordered = rows.sort_values(column, key=abs, ascending=False, kind="stable")
    return ordered.head(MOST_ROWS)
