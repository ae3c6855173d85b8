"""Segments of a text that the user names, and the choice of one."""

from __future__ import annotations

from collections.abc import Sequence

from attnwidget.record import Stack, Tokens

from .traits import NamedSegment

PAIR_SEGMENTS = ("all", "aa", "ab", "ba", "bb")
"""All attention, or that from the first to the second letter's text of a pair."""


CONTENT = "content"
"""All attention between tokens that are not special, or, before another choice, what of it is."""


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
    content, segments = _parts(chosen)
    if segments not in (*choices, *by_name.values()):
        hint = "" if named else "; named segments are a list, as [(1, 5, 'subject')]"
        raise ValueError(
            f"segments {chosen!r} does not exist: there are {', '.join(map(repr, choices))}, and "
            f"each of them without special tokens, as 'content' and 'content ab'{hint}"
        )
    segments = by_name.get(segments, segments)
    if not content:
        return segments
    return CONTENT if segments == "all" else f"{CONTENT} {segments}"


def _parts(chosen: str) -> tuple[bool, str]:
    """True if special tokens are left out, and the choice besides."""
    first, _, rest = chosen.partition(" ")
    return (True, rest or "all") if first == CONTENT else (False, chosen)


def shown_positions(stack: Stack, chosen: str) -> tuple[Sequence[int], Sequence[int]]:
    """The positions of the queries and of the keys that a choice includes.

    Those of both are all where one side would have none, since no segment without tokens can be
    shown alone; those of a side are special tokens only where there are no others.
    """
    content, segments = _parts(chosen)
    sides = stack.queries, stack.keys
    everything: list[Sequence[int]] = [range(len(side)) for side in sides]
    positions = list(everything)
    way, _, span = segments.partition(":")
    if span:
        start, end = map(int, span.split("-"))
        side = 0 if way == "from" else 1
        positions[side] = [at for at in everything[side] if start <= at < end]
    elif segments != "all" and all(tokens.segments is not None for tokens in sides):
        texts = ["ab".index(letter) for letter in segments]
        positions = [
            [at for at, segment in enumerate(tokens.segments or ()) if segment == text]
            for tokens, text in zip(sides, texts, strict=True)
        ]
    queries, keys = positions if all(positions) else everything
    if not content:
        return queries, keys
    return _without_special(stack.queries, queries), _without_special(stack.keys, keys)


def _without_special(tokens: Tokens, positions: Sequence[int]) -> Sequence[int]:
    special = set(tokens.special)
    return [at for at in positions if at not in special] or positions
