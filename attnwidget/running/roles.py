"""The roles of the dimensions of what has changed: the item, the head, the token."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

import torch

from attnwidget.tracing.layout import Axes

from .changes import Difference, Way

# The offset of tokens that are not in the order of the input.
ASTRAY = -1


class Roles(NamedTuple):
    """The roles of the dimensions of what has changed.

    Attributes:
        axes: of the scores.
        offset: the position of the input's first token; None if tokens have mixed, or ASTRAY.
    """

    axes: Axes
    offset: int | None


def query_roles(difference: Difference, way: Way) -> Roles | None:
    """The roles of the dimensions of queries, in a way that keys do not contradict."""
    queries, keys = difference.queries, difference.keys
    roles = _roles(queries, difference.tokens, way)
    if roles is None and difference.tokens is None:  # tokens have mixed; their number may tell
        as_many = [n for n in range(queries.ndim) if queries.shape[n] == way.length]
        roles = _roles(queries, as_many[0], way) if len(as_many) == 1 else None
    if roles is None or not bool(keys.any()):
        return roles
    others = key_roles(difference, way)
    # Keys may have mixed before queries, but then all of them have.
    every = keys.reshape(-1, keys.shape[-1]).any(0).all()
    some = others is not None and others.offset is None and not bool(every)
    return None if others is None or (some and roles.offset is not None) else roles


def key_roles(difference: Difference, way: Way) -> Roles | None:
    """The roles of the dimensions of keys, whose tokens are the last."""
    keys = difference.keys
    if difference.of_scores:  # the columns alone
        way = way._replace(items=())
    return _roles(keys, keys.ndim - 1, way)


def _roles(changed: torch.Tensor, tokens: int | None, way: Way) -> Roles | None:
    """The one assignment of roles that fits what has changed, or None.

    Args:
        changed: true where a query or a key has changed.
        tokens: the dimension of the tokens, or None if that is not known.
    """
    if not bool(changed.any()):
        return None
    seen = [set(each.unique().tolist()) for each in changed.nonzero().T]
    found = []
    for of_tokens in range(changed.ndim) if tokens is None else [tokens]:
        offset = None
        if way.tokens is not None:
            offset = _offset(seen[of_tokens], way.tokens, changed.shape[of_tokens])
        if tokens is None and (offset is None or offset == ASTRAY):
            continue
        rest = {n: seen[n] for n in range(changed.ndim) if n != of_tokens}
        found += [Roles(axes, offset) for axes in _axes(changed.shape, rest, of_tokens, way)]
    return found[0] if len(found) == 1 else None


def _offset(seen: Set[int], tokens: tuple[int, ...], length: int) -> int | None:
    """The position of the first token, by the positions that changed with some tokens."""
    first = min(seen) - tokens[0]
    if first >= 0 and seen == {token + first for token in tokens}:
        return first
    return None if len(seen) > len(tokens) or len(seen) == length else ASTRAY


def _axes(shape: torch.Size, rest: dict[int, set[int]], tokens: int, way: Way) -> list[Axes]:
    """The axes that fit the entries that changed along all dimensions but that of the tokens."""

    def apart(batch: list[int]) -> list[Axes]:
        heads = [n for n in rest if n not in batch]
        return [Axes((*batch, *heads, tokens, len(shape)), len(batch))]

    items = [n for n, each in rest.items() if shape[n] == way.size and each == set(way.changed)]
    partial = [n for n, each in rest.items() if len(each) < shape[n]]
    # Part of an image is in some of the windows.
    windows = [n for n in partial if n not in items] if way.tokens is None else []
    if not partial and (not way.items or (way.size == 1 and len(items) > 1)):
        return apart([])
    if len(items) == 1 and set(partial) <= {*items, *windows}:
        return apart([*items, *windows])
    if len(windows) == 1 and _of_first(rest[windows[0]], shape[windows[0]], way):
        return apart(windows)
    if len(rest) != 1:
        return []
    [(folded, each)] = rest.items()
    count, left = divmod(shape[folded], way.size)
    if left:
        return []
    order = tuple(range(len(shape) + 1))
    first = {item * count + head for item in way.changed for head in range(count)}
    last = {head * way.size + item for item in way.changed for head in range(count)}
    return [
        *([Axes(order, 0, "batch first", count)] if each == first else []),
        *([Axes(order, 0, "heads first", count)] if each == last else []),
    ]


def _of_first(seen: set[int], size: int, way: Way) -> bool:
    """True if what was seen, of all items' windows in one dimension, is of the first item."""
    return size % way.size == 0 and max(seen) < size // way.size
