"""Attention calls made of queries, keys, values and visible keys, where no function takes these."""

from __future__ import annotations

from typing import Any

import torch

from .calls import FunctionCall, Rebuild

ROUTE = "softmax"


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
        reference=None,
        replay=None,
        output=output,
        rebuild=rebuild,
        rerun=rerun,
    )
