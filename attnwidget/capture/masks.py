"""Attention masks, as passed to attention functions: the keys seen, and what is added."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from attnwidget.record import Floats
from attnwidget.record.scores import MASKED, Bools
from attnwidget.tracing import FunctionCall

from .items import Selection


def read_mask(call: FunctionCall, selection: Selection) -> tuple[Bools | None, Floats | None]:
    """(seen, bias) of one item without its padding, as `terms` takes them.

    Raises:
        ValueError: the mask has a form that is not understood.
    """
    tensor = dense_mask(call)
    bias = None if tensor is None or tensor.dtype == torch.bool else tensor
    seen = tensor if bias is None else bias > MASKED
    if (extra := call.options.get("position_bias")) is not None:
        bias = extra if bias is None else bias + extra
    causal = _causal(call) if call.causal else None
    if causal is not None:
        seen = causal if seen is None else seen & causal
    return (
        None if seen is None else _cut(seen, call, selection),
        None if bias is None else _cut(bias.float().nan_to_num(0, 0, 0), call, selection),
    )


def additive(call: FunctionCall) -> torch.Tensor | None:
    """The call's mask as numbers to add, for a function that knows no other form.

    The lowest float and not -inf stands for "masked", as in transformers' own masks.
    """
    tensor = dense_mask(call)
    lowest = torch.finfo(call.query.dtype).min
    if tensor is not None and tensor.dtype != torch.bool:
        if not call.causal:
            return tensor
        return tensor.masked_fill(~_causal(call), lowest)
    seen = tensor
    if call.causal:
        seen = _causal(call) if seen is None else seen & _causal(call)
    if seen is None:
        return None
    return torch.zeros(seen.shape, dtype=call.query.dtype).masked_fill(~seen.cpu(), lowest)


def dense_mask(call: FunctionCall) -> torch.Tensor | None:
    """The mask as bool or float [1 or M, 1 or heads, Tq, Tk]."""
    mask = call.mask
    num_queries, num_keys = call.query.shape[-2], call.key.shape[-2]
    if mask is None:
        return _windowed(call, None)
    if isinstance(mask, torch.Tensor) and mask.ndim in (2, 4):
        if mask.ndim == 4:
            return _plain(mask[..., :num_keys])
        if mask.shape[-1] >= num_keys:  # flash attention: which keys are padding
            return _windowed(call, mask[:, None, None, -num_keys:].detach().cpu().bool())
    if hasattr(mask, "mask_mod"):  # flex attention
        from torch.nn.attention.flex_attention import create_mask

        device = str(call.query.device)
        batch = len(call.query)
        dense = create_mask(
            mask.mask_mod, batch, call.query.shape[1], num_queries, num_keys, device
        )
        return _plain(dense)
    raise ValueError(f"its mask, {_description(mask)}, is of no known form")


def _plain(mask: torch.Tensor) -> torch.Tensor:
    return mask.detach().cpu()


def _windowed(call: FunctionCall, padding: torch.Tensor | None) -> torch.Tensor | None:
    """Flash attention is given its sliding window as a number."""
    size = call.options.get("sliding_window") if call.options.get("flash") else None
    if size is None:
        return padding
    num_queries, num_keys = call.query.shape[-2], call.key.shape[-2]
    distance = torch.arange(num_keys)[None] - torch.arange(num_queries)[:, None]
    near: torch.Tensor = (distance - (num_keys - num_queries) > -size)[None, None]
    return near if padding is None else padding & near


def _causal(call: FunctionCall) -> torch.Tensor:
    num_queries, num_keys = call.query.shape[-2], call.key.shape[-2]
    return torch.ones(num_queries, num_keys, dtype=torch.bool).tril()[None, None]


def _description(mask: Any) -> str:
    if isinstance(mask, torch.Tensor):
        return f"a tensor of shape {list(mask.shape)}"
    return f"a {type(mask).__name__}"


def _cut(tensor: torch.Tensor, call: FunctionCall, selection: Selection) -> np.ndarray:
    """[1 or M, 1 or heads, Tq, Tk] of a call -> [1 or heads, R, Tk] of an item."""
    leading, shape = len(call.query), (call.query.shape[-2], call.key.shape[-2])
    tensor = tensor.detach().cpu()
    tensor = tensor.expand(*tensor.shape[:2], *shape)
    if len(tensor) == leading:
        tensor = tensor[selection.windows]
    elif len(tensor) > 1:
        raise ValueError(f"its mask is of shape {list(tensor.shape)}, for {leading} inputs")
    if len(tensor) > 1:  # one mask per window
        array: np.ndarray = tensor.movedim(1, 0).flatten(1, 2).numpy()
        return array
    whole: np.ndarray = tensor[0].numpy()
    if selection.shape == shape:
        return whole
    return whole[:, selection.queries.numpy()][:, :, selection.keys.numpy()]
