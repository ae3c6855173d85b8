"""Heads, tokens and links that interventions choose, as masks of a call."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .edits import Chosen, KnockOut, listed
from .sites import Site


def chosen_heads(heads: Chosen, count: int, layer: int) -> torch.Tensor:
    """True at the places of these heads of a layer, bool [count]; None for all.

    Raises:
        ValueError: the layer has no such head.
    """
    numbers = listed(heads, list(range(count)))
    beyond = [number for number in numbers if not 0 <= number < count]
    if beyond:
        raise ValueError(
            f"head {beyond[0]} of layer {layer} does not exist: there are {count}, from 0 to "
            f"{count - 1}"
        )
    mask = torch.zeros(count, dtype=torch.bool)
    mask[numbers] = True
    return mask


def sharing(heads: torch.Tensor, count: int, site: Site, at: str) -> torch.Tensor:
    """The same heads among so many, each of which several may share: bool [count].

    Raises:
        ValueError: some of those that share one are chosen, and others are not.
    """
    by_key_head = heads.reshape(count, -1)
    chosen = by_key_head.any(dim=1)
    split = (chosen & ~by_key_head.all(dim=1)).nonzero()
    if len(split):
        size = by_key_head.shape[1]
        first = int(split[0]) * size
        raise ValueError(
            f"heads {first} to {first + size - 1} of layer {site.layer} of stack {site.stack!r} "
            f"share their {at}: change all of them"
        )
    return chosen


def within(chosen: Sequence[int], present: range) -> torch.Tensor:
    """True at the chosen positions among those present in a call."""
    wanted = set(chosen)
    return torch.tensor([position in wanted for position in present])


def last_seen(seen: torch.Tensor) -> torch.Tensor:
    """The number of the last token that is seen, of bool [M, tokens]: [M]."""
    numbers = torch.arange(seen.shape[1], device=seen.device)
    return (seen * numbers).amax(dim=1)


def cut_edges(
    intervention: KnockOut, heads: torch.Tensor, here: range, there: range
) -> torch.Tensor:
    """True where a link is cut among these queries and keys: bool [heads, Tq, Tk]."""
    queries, keys = (
        within(listed(chosen, list(present)), present)
        for chosen, present in zip(intervention.sides, (here, there), strict=True)
    )
    return heads[:, None, None] & queries[:, None] & keys


def hidden_keys(intervention: KnockOut, shape: torch.Size, first: int, layer: int) -> torch.Tensor:
    """-inf where a key is hidden, else 0: [1, heads, Tq, Tk].

    Args:
        first: the position of the first query.
    """
    _, num_heads, num_queries, num_keys = shape
    heads = chosen_heads(intervention.heads, num_heads, layer)
    edges = cut_edges(intervention, heads, range(first, first + num_queries), range(num_keys))
    return torch.zeros(edges.shape).masked_fill(edges, -torch.inf)[None]
