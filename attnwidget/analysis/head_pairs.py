"""Pairing of the heads of two stacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol

from attnwidget.record import Stack

Layers = Literal["number", "depth"] | Mapping[int, int]

HeadPairs = Mapping[tuple[int, int], tuple[int, int]]
"""By (layer, head) of a, that of b."""


class Matched(Protocol):
    """Two heads that belong together, each as (layer, head), as `match_heads` returns them."""

    @property
    def a(self) -> tuple[int, int]:
        """The head of a."""

    @property
    def b(self) -> tuple[int, int]:
        """The head of b."""


def pair_heads(a: Stack, b: Stack, layers: Layers, matches: Iterable[Matched] | None) -> HeadPairs:
    """Pair the heads of two stacks: see `compare`.

    Raises:
        ValueError: they cannot be paired.
    """
    return _by_layer(a, b, layers) if matches is None else _matched(a, b, matches)


def _by_layer(a: Stack, b: Stack, layers: Layers) -> HeadPairs:
    heads: dict[tuple[int, int], tuple[int, int]] = {}
    for number, other in _paired_layers(a, b, layers).items():
        counts = a.layer(number).num_heads, b.layer(other).num_heads
        if counts[0] != counts[1]:
            raise ValueError(
                f"layer {number} of a has {counts[0]} heads, layer {other} of b {counts[1]}: give "
                "heads=, as attnwidget.match_heads finds them"
            )
        heads |= {(number, head): (other, head) for head in range(counts[0])}
    return heads


def _paired_layers(a: Stack, b: Stack, layers: Layers) -> Mapping[int, int]:
    if isinstance(layers, Mapping):
        for number, other in layers.items():
            _check_layer(a, number, "a")
            _check_layer(b, other, "b")
        return layers
    if layers == "depth":
        last = max(len(a.numbers) - 1, 1)
        return {
            number: b.numbers[round(place * (len(b.numbers) - 1) / last)]
            for place, number in enumerate(a.numbers)
        }
    if layers != "number":
        raise ValueError(f"layers is {layers!r}; expected 'number', 'depth' or a mapping")
    common = [number for number in a.numbers if number in b.numbers]
    if len(common) < max(len(a.numbers), len(b.numbers)):
        raise ValueError(
            f"a has {len(a.numbers)} layers and b {len(b.numbers)}, with {len(common)} numbers in "
            "common: give layers='depth', or the numbers of b's layers by a's"
        )
    return {number: number for number in common}


def _matched(a: Stack, b: Stack, matches: Iterable[Matched]) -> HeadPairs:
    try:
        pairs = {(each.a[0], each.a[1]): (each.b[0], each.b[1]) for each in matches}
    except (AttributeError, TypeError, IndexError):
        raise TypeError(
            f"heads is {matches!r:.100}; expected pairs of heads, as attnwidget.match_heads finds "
            "them"
        ) from None
    for name, stack, heads in (("a", a, pairs.keys()), ("b", b, pairs.values())):
        for layer, head in heads:
            _check_layer(stack, layer, name)
            if not 0 <= head < stack.layer(layer).num_heads:
                raise ValueError(f"layer {layer} of {name} has no head {head}")
    return pairs


def _check_layer(stack: Stack, number: int, name: str) -> None:
    if number not in stack.numbers:
        raise ValueError(f"{name} has no layer {number}; it has {list(stack.numbers)}")
