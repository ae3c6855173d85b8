"""Links between tokens that a view cuts, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from typing import Any, NamedTuple

from .edits import KnockOut

# In order; None for all.
Chosen = tuple[int, ...] | None


class Link(NamedTuple):
    """Links from queries to keys, in some heads; `KnockOut(*link)` cuts them.

    Attributes:
        queries, keys: positions of tokens.
        layers, heads: the numbers of layers, and of heads in each.
    """

    queries: Chosen
    keys: Chosen
    layers: Chosen = None
    heads: Chosen = None

    @classmethod
    def of(cls, given: Any) -> Link:
        """The link that a `KnockOut` cuts, or of its four fields.

        Raises:
            TypeError: it is neither.
        """
        if isinstance(given, KnockOut):
            given = (*given.sides, given.layers, given.heads)
        try:
            return cls(*map(_chosen, given))
        except TypeError:
            raise TypeError(
                f"{given!r:.100} is no link; expected attnwidget.KnockOut(queries, keys, layers, "
                "heads)"
            ) from None


@dataclass(frozen=True)
class CutLinks:
    """The links of a stack that are cut.

    Attributes:
        links: in any order.
        num_queries, num_keys: the numbers of tokens among which positions count.
    """

    links: tuple[Link, ...] = ()
    num_queries: int = 0
    num_keys: int = 0

    def edits(self, stack: str) -> list[KnockOut]:
        """The interventions that cut them."""
        return [KnockOut(*link, stack) for link in self.links]


NO_LINKS = CutLinks()


def _chosen(given: int | Iterable[int] | None) -> Chosen:
    if given is None:
        return None
    if isinstance(given, str):
        raise TypeError
    numbers = given if isinstance(given, Iterable) else [given]
    return tuple(sorted({index(number) for number in numbers}))
