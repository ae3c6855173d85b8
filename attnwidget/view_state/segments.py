"""Segments of a text that the user names, and the choice of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import traitlets

from attnwidget.arguments import whole_number

PAIR_SEGMENTS = ("all", "aa", "ab", "ba", "bb")
"""All attention, or that from the first to the second letter's text of a pair."""

NamedSegment = tuple[int, int, str]
"""The positions of a segment's first token, and of the one after its last; its name."""


# Older versions of traitlets, as Colab's, cannot be asked for TraitType[Any, Any].
class NamedSegments(traitlets.List):  # type: ignore[type-arg]
    """A list of `NamedSegment`."""

    def __init__(self) -> None:
        super().__init__(traitlets.Any(), [])

    def validate(self, obj: Any, value: Any) -> Any:
        if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
            raise traitlets.TraitError(_expected(value))
        return super().validate(obj, [_named(each) for each in value])


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


def _named(given: Any) -> NamedSegment:
    try:
        start, end, name = given
        start, end = whole_number(start), whole_number(end)
    except (TypeError, ValueError):
        raise traitlets.TraitError(_expected(given)) from None
    if not isinstance(name, str) or not name.strip() or not 0 <= start < end:
        raise traitlets.TraitError(_expected(given))
    return start, end, name


def _expected(given: Any) -> str:
    return (
        f"segments are {given!r:.100}; expected (start, end, name) for each, as "
        "(1, 5, 'subject'): the positions of the first token and of the one after the last"
    )
