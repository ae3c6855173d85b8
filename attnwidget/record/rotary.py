"""Which components of queries and keys a rotary position embedding turned together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Pairs = Literal["halves", "neighbours"]


@dataclass(frozen=True)
class Rotary:
    """Pairs among `dims` components of every query and key; the others are not turned.

    Attributes:
        pairs: with which component n is turned, both counted from `start` on: n + dims / 2
            ("halves", as in Llama), or, of an even n, n + 1 ("neighbours", as in GPT-J).
        dims: how many components are turned.
        start: the first of them.
    """

    pairs: Pairs
    dims: int
    start: int = 0

    def __post_init__(self) -> None:
        if self.pairs not in get_args(Pairs):
            raise ValueError(f"rotary pairs {self.pairs!r}; expected one of {get_args(Pairs)}")
        if type(self.dims) is not int or self.dims < 2 or self.dims % 2:
            raise ValueError(f"rotary dims {self.dims!r}; expected 2, 4, ...")
        if type(self.start) is not int or self.start < 0:
            raise ValueError(f"rotary start {self.start!r}; expected 0, 1, ...")
