"""Heads that a view switches off and links between tokens that it cuts, as data, without torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnwidget.arguments import whole_number, whole_numbers
from attnwidget.record import AttentionRecord, Stack

from .edits import Ablate, Chosen, KnockOut, listed

# In order; None for all.
_Positions = tuple[int, ...] | None


class Link(NamedTuple):
    """Links from queries to keys, in some heads; `KnockOut(*link)` cuts them.

    Attributes:
        queries, keys: positions of tokens.
        layers, heads: the numbers of layers, and of heads in each.
    """

    queries: _Positions
    keys: _Positions
    layers: _Positions = None
    heads: _Positions = None

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
class Off:
    """Heads and links of a stack that are off.

    Attributes:
        stack: its name.
        heads: (layer, head) of each head.
        links: the links that are cut.
        num_queries, num_keys: the numbers of tokens among which their positions count.
    """

    stack: str
    heads: tuple[tuple[int, int], ...] = ()
    links: tuple[Link, ...] = ()
    num_queries: int = 0
    num_keys: int = 0

    @classmethod
    def of(
        cls,
        record: AttentionRecord,
        name: str,
        heads: Iterable[tuple[Any, Any]],
        links: Sequence[Link],
    ) -> Off:
        """Heads and links of a record.

        Args:
            name: of their stack.

        Raises:
            KeyError, ValueError, IndexError: the record lacks them.
            TypeError: heads are no pairs of numbers.
        """
        stack = record.stack(name)
        pairs = tuple((whole_number(layer), whole_number(head)) for layer, head in heads)
        for layer, head in pairs:
            check_head(stack, layer, head)
        for link in links:
            check_link(stack, link)
        return cls(name, pairs, tuple(links), len(stack.queries), len(stack.keys))

    @property
    def edits(self) -> list[Ablate | KnockOut]:
        """The interventions that switch them off."""
        heads = [Ablate(layer, head, self.stack) for layer, head in self.heads]
        return [*heads, *(KnockOut(*link, self.stack) for link in self.links)]


@dataclass(frozen=True)
class Cut:
    """Links from all rows that wrote an answer to some keys.

    Attributes:
        keys: positions in the record. A row that is one of them keeps the link to itself.
        heads: (layer, head) of the heads whose links are cut; None for all of the stack.
    """

    keys: tuple[int, ...]
    heads: frozenset[tuple[int, int]] | None = None


@dataclass(frozen=True)
class MeasuredCut:
    """The effect of a cut of an answer's links.

    Attributes:
        changes: of the log probability of each of its tokens, in nats.
        answer: what the model then writes; None if that was not asked for.
    """

    changes: NDArray[np.float64]
    answer: str | None = None


def check_link(stack: Stack, link: Link) -> None:
    """Raise a ValueError or IndexError if a stack lacks tokens, layers or heads of a link."""
    for side, positions, tokens in (
        ("query", link.queries, stack.queries),
        ("key", link.keys, stack.keys),
    ):
        for position in positions or ():
            check_position(side, position, len(tokens))
    for layer in stack.numbers if link.layers is None else link.layers:
        for head in link.heads or ():
            check_head(stack, layer, head)
        stack.layer(layer)


def check_position(side: str, position: Any, count: int) -> int:
    """The position of a token among so many, or a ValueError."""
    if type(position) is not int or not 0 <= position < count:
        raise ValueError(
            f"{side} position {position!r:.100} does not exist: there are 0 to {count - 1}"
        )
    return position


def check_head(stack: Stack, layer: int, head: int) -> None:
    """Raise a ValueError if a stack lacks a head."""
    if not 0 <= head < stack.layer(layer).num_heads:
        raise ValueError(f"layer {layer} has no head {head!r:.100}")


def _chosen(given: Any, name: str) -> _Positions:
    numbers: Chosen = whole_numbers(name, given)
    return None if numbers is None else tuple(sorted(set(listed(numbers, []))))
