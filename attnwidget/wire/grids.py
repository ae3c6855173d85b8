"""Grids of numbers over layers, heads and positions, which the grid view shows beside a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from attnwidget.analysis import GridScores, HeadScores, Numbers
from attnwidget.arguments import entries
from attnwidget.record import AttentionRecord, Tokens

from .metrics import digits_of, sent_number
from .text import sendable

_MAX_GRIDS = 64
_MAX_CELLS = 2**18

# Between the labels of two texts at a position where they differ, in a grid and in a comparison.
_BETWEEN, _COMPARED = " / ", " | "


class _NullCells(TypedDict):
    label: str
    values: list[list[float | None]]


class _Grid(TypedDict):
    name: str
    label: str
    description: str
    unit: str
    digits: int
    stack: str
    axes: list[str]
    rows: list[tuple[str, int | None, int | None]]
    columns: list[str]
    values: list[list[float | None]]


class SentGrid(_Grid, total=False):
    """A grid as JSON; see `GridScores` for the other fields.

    Attributes:
        label: its name, and where it was measured.
        stack: the stack of its layers and tokens.
        axes: what rows and columns are: "layer", "head", "position", or "" for one column alone.
        rows: the label, layer and head of each; None where a row is of none.
        null: missing if it is not known.
    """

    null: _NullCells


def checked_grids(grids: Iterable[GridScores] | None) -> tuple[GridScores, ...]:
    """The grids as a tuple; None for none.

    Raises:
        TypeError: they are no collection of GridScores.
        ValueError: there are too many, or one has too many cells.
    """
    if grids is None:
        return ()
    expected = "a list of GridScores, as [attnwidget.patch_scan(...)]"
    listed = tuple(entries("grids", grids, expected))
    if len(listed) > _MAX_GRIDS:
        raise ValueError(f"there are {len(listed)} grids; at most {_MAX_GRIDS} can be shown")
    for each in listed:
        if not isinstance(each, GridScores):
            raise TypeError(f"grids has {each!r:.100}; expected {expected}")
        if each.values.size > _MAX_CELLS:
            raise ValueError(
                f"{each} has {each.values.size:,} cells; at most {_MAX_CELLS:,} can be shown"
            )
    return listed


def encode_grids(
    record: AttentionRecord, grids: Sequence[GridScores], partners: Mapping[str, str]
) -> list[SentGrid]:
    """Encode grids, each with the first stack that has its tokens, or its heads.

    Args:
        partners: of a comparison, the stack of b by that of a, which has the labels of both texts.

    Raises:
        ValueError: no stack has the tokens or heads of a grid.
    """
    return [_encoded(record, grid, stack_of(record, grid, partners)) for grid in grids]


def _encoded(record: AttentionRecord, grid: GridScores, stack: str) -> SentGrid:
    of = f"; of {grid.measured_on}" if grid.measured_on else ""
    missing = f". Not measured: {'; '.join(grid.missing)}" if grid.missing else ""
    known = grid.values[~np.isnan(grid.values)]
    sent: SentGrid = {
        "name": grid.name,
        "label": label_of(grid),
        "description": sendable(f"{grid.description}{of}{missing}"),
        "unit": grid.unit,
        "digits": digits_of(known) if known.size else 0,
        "stack": stack,
        "axes": [*grid.axes],
        "rows": [(label, *_place(label)) for label in grid.rows],
        "columns": [sendable(label) for label in grid.columns],
        "values": _cells(grid.values),
    }
    if grid.null is not None:
        sent["null"] = {"label": grid.null_label or "null", "values": _cells(grid.null)}
    return sent


def label_of(grid: GridScores) -> str:
    """The name of a grid, and where it was measured: "restored at residual pre"."""
    return f"{grid.name} at {grid.site}" if grid.site else grid.name


def _place(label: str) -> tuple[int | None, int | None]:
    """The layer and the head of a row, as of "3" or "3-5"."""
    layer, _, head = label.partition("-")
    known = layer.isdecimal(), head.isdecimal()
    return (int(layer) if known[0] else None), (int(head) if all(known) else None)


def _cells(numbers: Numbers) -> list[list[float | None]]:
    return [[sent_number(value) for value in row] for row in numbers]


def stack_of(record: AttentionRecord, grid: GridScores, partners: Mapping[str, str]) -> str:
    """The first stack that has the tokens of a grid, or its layers and heads.

    Raises:
        ValueError: there is none.
    """
    reason = ""
    for name in record.stacks:
        if name in partners.values():
            continue
        stack = record.stack(name)
        layers = {_place(label)[0] for label in grid.rows} & set(stack.numbers)
        if not layers:
            reason = reason or "the record has none of its layers"
        elif not grid.by.endswith("position"):
            most = max(stack.layer(number).num_heads for number in layers if number is not None)
            if grid.by != "head" or len(grid.columns) >= most:
                return name
            reason = reason or f"it has {len(grid.columns)} heads, and the record {most}"
        else:
            other = _other_text(grid.columns, stack.queries)
            if not other:
                return name
            reason = reason or other
    raise ValueError(f"{grid!r} is not of this record: {reason}")


def _other_text(columns: Sequence[str], tokens: Tokens) -> str:
    """The reason why columns are not these tokens; "" if they are."""
    if len(columns) != len(tokens):
        return f"it has {len(columns)} positions, and the record {len(tokens)} tokens"
    for at, (column, label) in enumerate(zip(columns, tokens.labels, strict=True)):
        own, others = [column, *column.split(_BETWEEN)], [label, *label.split(_COMPARED)]
        if column != str(at) and not set(own).intersection(others):
            return f"its position {at} is {column!r}, and the record's {label!r}"
    return ""


def grid_metrics(
    record: AttentionRecord, grids: Sequence[GridScores], partners: Mapping[str, str]
) -> dict[str, HeadScores]:
    """The grids of layers by heads as metrics of heads, by their names."""
    found: dict[str, HeadScores] = {}
    for grid in grids:
        if grid.by != "head":
            continue
        stack, name = stack_of(record, grid, partners), label_of(grid)
        if name in found:
            name = f"{name}, {len(found) + 1}"

        def rows(numbers: Any, grid: GridScores = grid, stack: str = stack) -> Any:
            of_layers = zip(grid.rows, numbers, strict=True)
            return {stack: {int(label): np.asarray(row) for label, row in of_layers}}

        null = None if grid.null is None else rows(grid.null)
        style: dict[str, Any] = {"unit": grid.unit, "signed": True, "missing": grid.missing}
        found[name] = HeadScores(
            name,
            grid.description,
            rows(grid.values),
            **style,
            measured_on=grid.measured_on,
            null=null,
            null_label=grid.null_label,
        )
    return found
