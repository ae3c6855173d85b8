"""Segments of a text that the user names, and the choice of one."""

from __future__ import annotations

from collections.abc import Sequence

from .traits import NamedSegment

PAIR_SEGMENTS = ("all", "aa", "ab", "ba", "bb")
"""All attention, or that from the first to the second letter's text of a pair."""


def segment_choice(chosen: str, named: Sequence[NamedSegment]) -> str:
    """The choice with positions for a name: "from:subject" as "from:1-5".

    Raises:
        ValueError: there is no such choice; the message says which there are.
    """
    by_name = {
        f"{way}:{name}": f"{way}:{start}-{end}"
        for start, end, name in named
        for way in ("from", "to")
    }
    choices = (*PAIR_SEGMENTS, *by_name)
    if chosen not in (*choices, *by_name.values()):
        hint = "" if named else "; named segments are a list, as [(1, 5, 'subject')]"
        raise ValueError(
            f"segments {chosen!r} does not exist: there are {', '.join(map(repr, choices))}{hint}"
        )
    return by_name.get(chosen, chosen)


def of_named(chosen: str) -> tuple[str, range] | None:
    """("from" or "to", positions) of a named segment; None for another choice."""
    way, _, span = chosen.partition(":")
    if not span:
        return None
    start, end = map(int, span.split("-"))
    return way, range(start, end)
