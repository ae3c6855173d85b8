"""A stack on the tokens and heads that it has in common with another one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from attnwidget.record import Fidelity, Layer, Stack, Tokens

from .alignment import Alignment
from .head_difference import Side, joined_weights
from .head_pairs import HeadPairs
from .levels import numbers_alone, summed_fidelity

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Common:
    """The stacks of one name in two records: the tokens and the heads that belong together."""

    a: Stack
    b: Stack
    queries: Alignment
    keys: Alignment
    heads: HeadPairs

    def of(self, head: tuple[int, int], other: tuple[int, int]) -> tuple[Side, Side]:
        """A head of a and a head of b, on the tokens that belong together."""
        queries, keys = self.queries.pairs, self.keys.pairs
        return (
            Side(self.a.layer(head[0]), head[1], [p.a for p in queries], [p.a for p in keys]),
            Side(self.b.layer(other[0]), other[1], [p.b for p in queries], [p.b for p in keys]),
        )


def on_common_axes(common: Common) -> tuple[Stack, Stack]:
    """Both stacks with the same tokens, and with the layers and heads of a that have a partner.

    A replaced token is named by both texts. Layers stay as they are where that is all that changes;
    else they become weights, summed over keys and averaged over queries that count as one.

    Raises:
        ValueError: some heads of a layer have a partner, and others none.
    """
    queries = _tokens(common.queries, common.a.queries, common.b.queries)
    same = common.keys is common.queries
    keys = queries if same else _tokens(common.keys, common.a.keys, common.b.keys)
    layers: tuple[list[Layer], list[Layer]] = [], []
    for layer in common.a.layers:
        places = [(layer.number, head) for head in range(layer.num_heads)]
        partners = [common.heads[place] for place in places if place in common.heads]
        if not partners:
            continue
        if len(partners) < len(places):
            raise ValueError(
                f"{len(partners)} of the {len(places)} heads of layer {layer.number} have a "
                "partner: a view needs one for every head of a layer, or for none; give heads= "
                "with whole layers"
            )
        layers[0].append(_layer(common, 0, places, layer.number))
        layers[1].append(_layer(common, 1, partners, layer.number))
    return Stack(queries, keys, tuple(layers[0])), Stack(queries, keys, tuple(layers[1]))


def _layer(common: Common, side: int, heads: Sequence[tuple[int, int]], number: int) -> Layer:
    """A layer of these heads of a (side 0) or b (side 1)."""
    stack = (common.a, common.b)[side]
    first = stack.layer(heads[0][0])
    unchanged = list(heads) == [(first.number, head) for head in range(first.num_heads)]
    if unchanged and common.queries.whole and common.keys.whole:
        return replace(first, number=number)
    queries, keys = (
        [(pair.a, pair.b)[side] for pair in each.pairs] for each in (common.queries, common.keys)
    )
    weights = [joined_weights(stack.layer(own), head, queries, keys) for own, head in heads]
    fidelities = [stack.layer(own).fidelity for own, _ in heads]
    least_exact = max(fidelities, key=_error)
    kept = "coefficients" if first.signed else "weights"
    fidelity = summed_fidelity(least_exact, max(map(len, keys)), kept)
    return numbers_alone(first, np.stack(weights), fidelity, number)


def _error(fidelity: Fidelity) -> float:
    return math.inf if fidelity.weights_error is None else fidelity.weights_error


def _tokens(alignment: Alignment, a: Tokens, b: Tokens) -> Tokens:
    """The tokens in common; what is known of them is what holds in both texts."""
    pairs = alignment.pairs
    special = [
        at
        for at, pair in enumerate(pairs)
        if set(pair.a) <= set(a.special) and set(pair.b) <= set(b.special)
    ]
    segments = None
    if a.segments and b.segments:
        own = tuple(a.segments[pair.a.start] for pair in pairs)
        other = tuple(b.segments[pair.b.start] for pair in pairs)
        segments = _same(own, other)
    whole = alignment.whole
    return Tokens(
        alignment.labels,
        segments=segments,
        special=tuple(special),
        words=_same(a.words, b.words) if whole else None,
        generated=_same(a.generated, b.generated) if whole else None,
    )


def _same(one: _Value, other: _Value) -> _Value | None:
    return one if one == other else None
