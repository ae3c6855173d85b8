"""Numbers of several rounds as one, with their spread."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Row = Mapping[str, Any]

# What is less, of a time in ms or of memory in MB, is not told from so much.
RESOLUTION = 0.5


class Spread(NamedTuple):
    median: float
    least: float
    most: float


def spread(values: Iterable[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return Spread(statistics.median(known), min(known), max(known)) if known else None


def above(runs: Sequence[Row], name: str, floor: Sequence[Row]) -> dict[int, float]:
    """A number minus that of the floor in the same round, by round."""
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
    """How many times ours it is, round by round; ours counts as `least` at least."""
    return spread(
        theirs[number] / max(ours[number], least) for number in theirs.keys() & ours.keys()
    )
