"""The results of every probe: numbers of all heads, and the texts that they are of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from attnwidget.analysis import HeadScores, Tabular, data_frame

from .shares import Share

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Findings(Tabular):
    """The findings of a probe, and the texts that they are of.

    Attributes:
        num_texts: the texts, pairs or images by which something was chosen or fitted (0 where
            nothing was), and those on which all is scored.
        lost: the number of words that all scores and baselines leave out, because they did not fit
            into `max_tokens`, or the tokenizer has no tokens for them.
    """

    num_texts: tuple[int, int]
    lost: int

    def table(self) -> pd.DataFrame:
        """The scores as a table of pandas, with the columns that their class names.

        Of a result that names none: the first number of all heads, the largest first, with the
        columns stack, layer, head, the number by its name, and low, high and null if known. If
        words were left out, the column "lost" has their number in every row.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        cells: list[dict[str, Any]] = []
        for row in self._rows():
            cells.append({})
            for name, value in {**row, "lost": self.lost or None}.items():
                cells[-1][name] = value.value if isinstance(value, Share) else value
                if name == "accuracy":
                    cells[-1] |= {"low": value.low, "high": value.high}
        columns = {name: [row[name] for row in cells] for name in cells[0]}
        return data_frame(
            {
                name: [float("nan") if value is None else value for value in values]
                for name, values in columns.items()
                if any(value is not None for value in values)
            }
        )

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        """The rows of the table, by column; a column in which none has a value is left out."""
        raise NotImplementedError

    def _in_short(self, found: Iterable[str], beside: str) -> str:
        """The short form in an output: some findings, and what the table has beside them."""
        without = f"{self.lost:,} words left out; " if self.lost else ""
        return (
            f"<{type(self).__name__} of {self.num_texts[1]} held-out texts: {', '.join(found)}; "
            f"{without}table() has {beside} beside them>"
        )


@dataclass(frozen=True, kw_only=True)
class ProbeScores(Findings):
    """The findings of a probe: its own numbers, and some of every head.

    Attributes:
        heads: the numbers of every head by what they measure, each with its null, and with its
            interval if it has one.
    """

    heads: Mapping[str, HeadScores] = field(repr=False)

    @property
    def missing(self) -> tuple[str, ...]:
        """Attention that could not be read, as "module: reason"."""
        return tuple({reason: None for scores in self.heads.values() for reason in scores.missing})

    def metrics(self, names: str | Sequence[str] | None = None) -> dict[str, HeadScores]:
        """Numbers of every head, as `metrics` of `attnwidget.show`.

        Args:
            names: one of `heads`, or several; None for all.

        Raises:
            KeyError: a name is not among them.
        """
        chosen = [names] if isinstance(names, str) else names
        found = [self._heads_of(name) for name in (self.heads if chosen is None else chosen)]
        return {scores.name: scores for scores in found}

    def _heads_of(self, name: str) -> HeadScores:
        if name not in self.heads:
            raise KeyError(f"no {name!r:.200} among the scores; there are {', '.join(self.heads)}")
        return self.heads[name]

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        scores = next(iter(self.heads.values()))
        ordered = scores.table().sort_values(scores.name, ascending=False, kind="stable")
        rows: list[Mapping[str, Any]] = ordered.to_dict("records")
        return rows


def compared(column: str, shares: Mapping[str, Share | None]) -> list[dict[str, Any]]:
    """Rows of what is compared: names in a column, accuracy, low, high; None is left out."""
    known = {name: share for name, share in shares.items() if share is not None}
    return [{column: name, "accuracy": share} for name, share in known.items()]
