"""Attention calls made of what a model computed, where it has no function that takes all of it."""

from __future__ import annotations

from typing import Any

import torch

from .calls import FunctionCall, Maps, Rebuild, SoftmaxCall
from .layout import Layout

ROUTE = "softmax"

# The most memory for weights that queries and keys do not give, of a call or of a record.
MOST_BYTES = 1 << 32


def explicit_call(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    seen: torch.Tensor,
    output: torch.Tensor,
    rebuild: Rebuild,
) -> FunctionCall:
    """The call softmax(query . key) . value, of queries that are scaled already.

    Args:
        query, key, value: [M, heads, tokens, d].
        seen: the visible keys, bool [M, 1, Tq, Tk].
        output, rebuild: of the call.
    """

    def rerun(
        query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor
    ) -> tuple[Any, torch.Tensor]:
        weights = torch.softmax(query @ key.mT + mask.to(query), dim=-1, dtype=torch.float32)
        heads = weights.to(value) @ value
        return rebuild(heads), heads

    return FunctionCall(
        module,
        ROUTE,
        query,
        key,
        value,
        seen,
        causal=False,
        options={"scaling": 1.0},
        output=output,
        rebuild=rebuild,
        rerun=rerun,
    )


def weights_alone(
    module: torch.nn.Module,
    weights: torch.Tensor,
    output: torch.Tensor,
    rebuild: Rebuild,
    value: torch.Tensor | None = None,
    maps: Maps = (),
) -> SoftmaxCall:
    """The call of weights [M, heads, Tq, Tk] that one query and key per token do not give."""
    layout = Layout.plain(len(weights))
    return SoftmaxCall(module, weights, weights, None, value, layout, output, rebuild, maps=maps)


def check_size(
    items: int, heads: int, queries: int, keys: int, shorter: str = "a shorter text"
) -> None:
    """Raise a ValueError if the weights of a call would take too much memory."""
    size = 4 * items * heads * queries * keys
    if size > MOST_BYTES:
        raise ValueError(
            f"its weights would take {size / 1e9:.1f} GB ({heads} heads times {queries} x {keys} "
            f"tokens, of {items} in a batch): give {shorter}, or fewer at a time"
        )
