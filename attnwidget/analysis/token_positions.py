"""The positions of tokens that a reader names by a text, by characters or by a segment."""

from __future__ import annotations

from typing import Literal

from attnwidget.record import Tokens

from .words import label_text

# Labels show these in place of whitespace, on which no comparison depends.
_BLANK = str.maketrans("", "", "␣⏎⇥␍ \n\t\r")

_LISTED = 12


def positions(
    tokens: Tokens,
    text: str | None = None,
    *,
    characters: tuple[int, int] | None = None,
    segment: Literal["A", "B"] | None = None,
) -> range:
    """Find the tokens of a part of a text, for `KnockOut` or a lock of the view.

    Give one of the three arguments::

        tokens = record.stack().keys
        aw.analysis.positions(tokens, "the judges")
        aw.analysis.positions(tokens, characters=(4, 10))

    Args:
        tokens: the tokens of a record's stack.
        text: words that begin and end where tokens do. Whitespace does not count, and capitals
            only if the text with them occurs.
        characters: (start, end) of the text, as in `Tokens.offsets`. A token that lies partly
            within counts.
        segment: "A" or "B", of a text pair.

    Returns:
        The positions.

    Raises:
        TypeError: none of them is given, or several; `tokens` is something else.
        ValueError: there is no such text, or it occurs more than once; no token has these
            characters, or the characters of tokens are not known; there is no such segment.
    """
    if not isinstance(tokens, Tokens):
        raise TypeError(
            f"tokens is {type(tokens).__name__}; expected the tokens of a stack, as "
            "record.stack().keys"
        )
    if sum(each is not None for each in (text, characters, segment)) != 1:
        raise TypeError("give one of text, characters=(start, end) and segment='A' or 'B'")
    if text is not None:
        return _of_text(tokens, text)
    if characters is not None:
        return _of_characters(tokens, *characters)
    number = {"A": 0, "B": 1}.get(str(segment))
    if tokens.segments is None or number is None:
        there = "these tokens have no segments" if tokens.segments is None else "there are 'A', 'B'"
        raise ValueError(f"no segment {segment!r}: {there}")
    found = [n for n, each in enumerate(tokens.segments) if each == number]
    if not found:
        raise ValueError(f"no token is in segment {segment!r}")
    return _between(found)


def position_of(tokens: Tokens, text: str) -> int:
    """The position of one token by its text.

    Raises:
        ValueError: see `positions`; or the text is of several tokens.
    """
    first, *more = positions(tokens, text)
    if more:
        raise ValueError(f"{text!r} is the tokens {first} to {more[-1]}: give one")
    return first


def _of_text(tokens: Tokens, text: str) -> range:
    wanted = text.translate(_BLANK)
    if not wanted:
        raise ValueError("the text is empty")
    pieces = [label_text(label).translate(_BLANK) for label in tokens.labels]
    found = _runs(pieces, wanted) or _runs([p.casefold() for p in pieces], wanted.casefold())
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(
            f"{run.start}" if len(run) == 1 else f"{run.start} to {run.stop - 1}"
            for run in found[:_LISTED]
        )
        raise ValueError(
            f"{text!r} occurs {len(found)} times, at the positions {places}: give positions"
        )
    raise ValueError(f"no tokens are the text {text!r}; there are {_listed(tokens)}")


def _runs(pieces: list[str], wanted: str) -> list[range]:
    """The consecutive pieces that spell a text."""
    found = []
    for start, first in enumerate(pieces):
        spelled, end = "", start
        while first and end < len(pieces) and len(spelled) < len(wanted):
            spelled += pieces[end]
            end += 1
        if spelled == wanted:
            found.append(range(start, end))
    return found


def _of_characters(tokens: Tokens, start: int, end: int) -> range:
    if tokens.offsets is None:
        raise ValueError("the characters of these tokens are not known: give a text or positions")
    found = [
        position
        for position, offset in enumerate(tokens.offsets)
        if offset is not None and offset[0] < end and start < offset[1]
    ]
    if not found:
        last = max((offset[1] for offset in tokens.offsets if offset is not None), default=0)
        raise ValueError(
            f"no token has characters {start} to {end}; the tokens have those from 0 to {last}"
        )
    return _between(found)


def _between(found: list[int]) -> range:
    """The positions, which are consecutive in one text."""
    whole = range(found[0], found[-1] + 1)
    if list(whole) != found:
        raise ValueError(
            f"the tokens at {found[:_LISTED]} are not consecutive, as the texts of a pair overlap: "
            "give positions"
        )
    return whole


def _listed(tokens: Tokens) -> str:
    shown = [f"{n} {label!r}" for n, label in enumerate(tokens.labels[:_LISTED])]
    return ", ".join(shown) + (", ..." if len(tokens) > _LISTED else "")
