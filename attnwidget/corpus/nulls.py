"""Nulls: the same metrics without what a model has learnt, or without the order of the text.

This has the names of all; those of position are in `position`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

Null: TypeAlias = Literal["random weights", "shuffled", "position", "best offset"]


def chosen_nulls(null: Null | Iterable[Null] | None) -> tuple[Null, ...]:
    """The nulls in order; none for None.

    Raises:
        TypeError, ValueError: an entry is no null, or there twice.
    """
    if null is None:
        return ()
    if not isinstance(null, Iterable):
        raise TypeError(f"null is {type(null).__name__}; expected a name, several, or None")
    chosen = (null,) if isinstance(null, str) else tuple(null)
    for name in chosen:
        if name not in get_args(Null):
            expected = ", ".join(map(repr, get_args(Null)))
            raise ValueError(f"null is {name!r}; expected {expected}, several of them, or None")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"null has a name twice: {', '.join(chosen)}")
    return chosen
