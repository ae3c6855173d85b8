"""The pairs of vector components that a rotary position embedding rotates together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Pairs = Literal["halves", "neighbours"]


@dataclass(frozen=True)
class Rotary:
    """The pairs among the components of every query and key.

    Attributes:
        pairs: "halves" pairs component n with n + dims / 2, as in Llama; "neighbours" pairs an even
            n with n + 1, as in GPT-J. Both are counted from `start`.
        dims: the number of components that are rotated.
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
