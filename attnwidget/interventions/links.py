"""Links between tokens that a view cuts, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from .edits import KnockOut, listed, whole_numbers

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
    def of(cls, given: Any, stack: str) -> Link:
        """The link that a `KnockOut` cuts, or of its four fields.

        Args:
            stack: the name of the stack whose links are cut.

        Raises:
            TypeError: it is neither.
            ValueError: it is of another stack, or has no query, key, layer or head.
        """
        if isinstance(given, KnockOut):
            if given.stack not in (None, stack):
                raise ValueError(
                    f"{given} is of stack {given.stack!r}, and stack {stack!r} is shown: choose "
                    f"stack={given.stack!r} first"
                )
            given = (*given.sides, given.layers, given.heads)
        try:
            return cls(*map(_chosen, cls(*given), cls._fields))
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


def _chosen(given: Any, name: str) -> Chosen:
    numbers = whole_numbers(given, name)
    return None if numbers is None else tuple(sorted(set(listed(numbers, []))))
