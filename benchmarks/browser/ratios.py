"""Summaries of several rounds, with their spread."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Row = Mapping[str, Any]

# Smaller times in ms, or memory in MB, are reported as this much.
RESOLUTION = 0.5


class Spread(NamedTuple):
    median: float
    least: float
    most: float


def spread(values: Iterable[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return Spread(statistics.median(known), min(known), max(known)) if known else None


def above(runs: Sequence[Row], name: str, floor: Sequence[Row]) -> dict[int, float]:
    """The difference to the floor of the same round, by round."""
    below = {run["round"]: run[name] for run in floor}
    return {
        run["round"]: run[name] - below[run["round"]]
        for run in runs
        if run[name] is not None and below.get(run["round"]) is not None
    }


def plain(runs: Sequence[Row], name: str) -> dict[int, float]:
    return {run["round"]: run[name] for run in runs if run[name] is not None}


def ratio(
    theirs: Mapping[int, float], ours: Mapping[int, float], least: float = RESOLUTION
) -> Spread | None:
    """The ratio to our number, by round; ours counts as at least `least`."""
    return spread(
        theirs[number] / max(ours[number], least) for number in theirs.keys() & ours.keys()
    )
