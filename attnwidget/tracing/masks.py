"""The masks passed to attention functions, in one form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from .calls import Call, FunctionCall

# Masks are -1e4 in some models, and the lowest float in most.
_MASKED = -9e3


def additive(call: FunctionCall) -> torch.Tensor | None:
    """The call's mask as numbers to add, for a function that takes no other form.

    The lowest float, not -inf, stands for "masked", as in transformers' own masks.
    """
    tensor = dense_mask(call)
    lowest = torch.finfo(call.query.dtype).min
    if tensor is not None and tensor.dtype != torch.bool:
        return tensor.masked_fill(~causal_mask(call), lowest) if call.causal else tensor
    seen = tensor
    if call.causal:
        seen = causal_mask(call) if seen is None else seen & causal_mask(call)
    if seen is None:
        return None
    return call.query.new_zeros(seen.shape).masked_fill(~seen, lowest)


def dense_mask(call: FunctionCall) -> torch.Tensor | None:
    """The mask as bool or float [1 or M, 1 or heads, Tq, Tk]."""
    mask = call.mask
    num_queries, num_keys = call.query.shape[-2], call.key.shape[-2]
    if mask is None:
        return _windowed(call, None)
    if isinstance(mask, torch.Tensor) and mask.ndim in (2, 4):
        if mask.ndim == 4:
            visible: torch.Tensor = mask[..., :num_keys]
            return visible
        if mask.shape[-1] >= num_keys:  # flash attention's mask of padding
            return _windowed(call, mask[:, None, None, -num_keys:].bool())
    if hasattr(mask, "mask_mod"):  # flex attention
        from torch.nn.attention.flex_attention import create_mask

        batch, heads = call.query.shape[:2]
        device = str(call.query.device)
        dense: torch.Tensor = create_mask(
            mask.mask_mod, batch, heads, num_queries, num_keys, device
        )
        return dense
    shape = f" of shape {list(mask.shape)}" if isinstance(mask, torch.Tensor) else ""
    raise ValueError(f"its mask, a {type(mask).__name__}{shape}, has an unknown form")


def seen_keys(call: Call) -> torch.Tensor:
    """True for the keys that any query sees: bool [M, Tk]."""
    if not isinstance(call, FunctionCall):
        return seen_scores(call.layout.apply(call.logits))
    mask = dense_mask(call)
    if mask is None:
        return call.key.new_ones(len(call.key), call.key.shape[-2], dtype=torch.bool)
    seen = mask if mask.dtype == torch.bool else mask > _MASKED
    return seen.flatten(1, 2).any(1).expand(len(call.key), -1)


def seen_scores(scores: torch.Tensor) -> torch.Tensor:
    """True for the keys that any query sees, of scores [M, heads, Tq, Tk]: bool [M, Tk]."""
    return (scores > _MASKED).flatten(1, 2).any(1)


def _windowed(call: FunctionCall, padding: torch.Tensor | None) -> torch.Tensor | None:
    """The mask of flash attention's sliding window, which is an option, and of padding."""
    size = call.options.get("sliding_window") if call.options.get("flash") else None
    if size is None:
        return padding
    num_queries, num_keys = call.query.shape[-2], call.key.shape[-2]
    positions = torch.arange(num_keys, device=call.query.device)
    distance = positions - positions[num_keys - num_queries :, None]
    near: torch.Tensor = (distance > -size)[None, None]
    return near if padding is None else padding & near


def causal_mask(call: FunctionCall) -> torch.Tensor:
    """True for keys up to the query's own, bool [1, 1, Tq, Tk]."""
    size = call.query.shape[-2], call.key.shape[-2]
    return call.query.new_ones(size, dtype=torch.bool).tril()[None, None]


def biased(call: FunctionCall, bias: torch.Tensor) -> tuple[FunctionCall, Any]:
    """Run a call with numbers added to its scores.

    Args:
        bias: broadcasts to [M, heads, Tq, Tk].

    Returns:
        (the call as changed, the result of the model's attention function).

    Raises:
        ValueError: the model has no function for it, or a query is left without any key.
    """
    if call.rerun is None:
        raise ValueError(
            f"the scores of {type(call.module).__name__} cannot be changed: it has no function "
            "that computes weights explicitly"
        )
    own = additive(call)
    mask = bias.to(call.query) if own is None else own.to(call.query) + bias.to(call.query)
    size = (call.query.shape[-2], call.key.shape[-2])
    mask = mask.expand(*mask.shape[:2], *size)
    check_seen(torch.zeros_like(mask) if own is None else own.to(mask), mask)
    result, output = call.rerun(call.query, call.key, call.value, mask)
    return replace(call, mask=mask, causal=False, output=output, edited=None), result


def check_seen(before: torch.Tensor, after: torch.Tensor) -> None:
    """Raise a ValueError if a query that saw keys sees none with the changed scores or mask.

    Its softmax would be over keys that are masked by the lowest float, or over none.
    """
    lost = (after.amax(dim=-1) <= _MASKED) & (before.amax(dim=-1) > _MASKED)
    if bool(lost.any()):
        query = int(lost.nonzero()[0, -1])
        raise ValueError(f"query {query} is left without a key that it may attend to")
