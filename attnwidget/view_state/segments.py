"""Segments of a text that the user names, and the choice of one."""

from __future__ import annotations

from collections.abc import Sequence

from attnwidget.record import Stack

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


def shown_positions(stack: Stack, chosen: str) -> tuple[Sequence[int], Sequence[int]]:
    """The positions of the queries and of the keys that a choice includes.

    Those of both are all where one side would have none, since no segment without tokens can be
    shown alone.
    """
    sides = stack.queries, stack.keys
    everything: list[Sequence[int]] = [range(len(side)) for side in sides]
    positions = list(everything)
    way, _, span = chosen.partition(":")
    if span:
        start, end = map(int, span.split("-"))
        side = 0 if way == "from" else 1
        positions[side] = [at for at in everything[side] if start <= at < end]
    elif chosen != "all" and all(tokens.segments is not None for tokens in sides):
        texts = ["ab".index(letter) for letter in chosen]
        positions = [
            [at for at, segment in enumerate(tokens.segments or ()) if segment == text]
            for tokens, text in zip(sides, texts, strict=True)
        ]
    queries, keys = positions if all(positions) else everything
    return queries, keys
