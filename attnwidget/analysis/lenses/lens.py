"""The description of a lens: its words, where a record lacks it and why, and its numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from attnwidget.record import AttentionRecord, Floats


class WhyNot(NamedTuple):
    """The reason why a layer does not have a lens.

    Attributes:
        brief: a few words, for a menu: "needs capture(values=True)".
        sentence: the whole reason, with what to do, as a clause without a full stop.
    """

    brief: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Lens(ABC):
    """A reading of attention: a number for each query and key, of every head or of a layer.

    Functions of a lens take a record, the name of a stack and the number of a layer.

    Attributes:
        name: the value of `lens`.
        label: the name in menus and titles.
        description: the meaning of the numbers, in a few words.
        one, many: the words for one number and for several: "weight", "weights".
        signed: True if numbers below zero mean the opposite of those above.
        digits: the most decimals that are shown.
        unit: "" for none.
        adds_up: True if the number of a word is the sum over its keys and the mean over its
            queries.
        shares: True if numbers are shares of 1, False if their scale is their own.
        by_head: False if a layer has numbers of all heads together.
        needs_values: True if layers have it that `capture(..., values=True)` recorded.
        why_not: the reason why a layer does not have the lens; None if it has.
    """

    name: str
    label: str
    description: str
    one: str
    many: str
    signed: bool = False
    digits: int = 3
    unit: str = ""
    adds_up: bool = True
    shares: bool = True
    by_head: bool = True
    needs_values: bool = False
    why_not: Callable[[AttentionRecord, str, int], WhyNot | None]

    @property
    def has_thumbnails(self) -> bool:
        """True if pictures of every head travel with a record."""
        return False

    @abstractmethod
    def matrix(self, record: AttentionRecord, stack: str, layer: int, head: int) -> Floats:
        """The numbers of a head, or of the layer that it is in: float32 [Tq, Tk]."""

    def heads(self, record: AttentionRecord, stack: str, layer: int) -> Iterator[Floats]:
        """The numbers of each head of a layer, in order."""
        for head in range(record.layer(layer, stack).num_heads):
            yield self.matrix(record, stack, layer, head)


@dataclass(frozen=True, kw_only=True)
class BrowserLens(Lens):
    """A lens that a view computes from queries, keys and weights: `js/src/lenses` has its file.

    Attributes:
        numbers: the numbers of a head, [Tq, Tk].
    """

    numbers: Callable[[AttentionRecord, str, int, int], Floats]

    def matrix(self, record: AttentionRecord, stack: str, layer: int, head: int) -> Floats:
        return self.numbers(record, stack, layer, head)


@dataclass(frozen=True, kw_only=True)
class FactorLens(Lens):
    """Weights times a factor of each head and key, as shares of their row.

    Attributes:
        factors: those of a layer, [heads, Tk], not negative.
        factor, product: the names of a factor, and of a weight times its factor.
    """

    factors: Callable[[AttentionRecord, str, int], Floats]
    factor: str
    product: str

    @property
    def has_thumbnails(self) -> bool:
        return True

    def matrix(self, record: AttentionRecord, stack: str, layer: int, head: int) -> Floats:
        factors = self.factors(record, stack, layer)[head]
        return row_shares(record.layer(layer, stack).head_weights(head) * factors)

    def heads(self, record: AttentionRecord, stack: str, layer: int) -> Iterator[Floats]:
        recorded = record.layer(layer, stack)
        for head, factors in enumerate(self.factors(record, stack, layer)):
            yield row_shares(recorded.head_weights(head) * factors)


@dataclass(frozen=True, kw_only=True)
class MatrixLens(Lens):
    """Matrices that are computed beforehand, of every head or of whole layers.

    Attributes:
        matrices: those of every layer of a stack: [heads, Tq, Tk], or [1, Tq, Tk] of whole layers.
        accumulates: True if a layer's matrix is of all layers up to it.
    """

    matrices: Callable[[AttentionRecord, str], Sequence[Floats]]
    accumulates: bool = False

    @property
    def has_thumbnails(self) -> bool:
        return self.by_head

    def matrix(self, record: AttentionRecord, stack: str, layer: int, head: int) -> Floats:
        place = record.stack(stack).numbers.index(layer)
        numbers: Floats = self.matrices(record, stack)[place][head if self.by_head else 0]
        return numbers


def factors_of(
    lenses: Iterable[Lens], record: AttentionRecord, stack: str, layer: int
) -> dict[str, Floats]:
    """The factors [heads, Tk] of a layer by the name of each lens that it has them for."""
    return {
        lens.name: lens.factors(record, stack, layer)
        for lens in lenses
        if isinstance(lens, FactorLens) and lens.why_not(record, stack, layer) is None
    }


def row_shares(matrix: Floats) -> Floats:
    """A matrix [..., Tq, Tk] without negative numbers, with each row as shares of its sum.

    Rows of zeros stay zero. The views show `value_weighted` so.
    """
    sums = matrix.sum(axis=-1, keepdims=True, dtype=np.float64)
    shares: Floats = (matrix / np.where(sums > 0, sums, 1)).astype(np.float32)
    return shares
