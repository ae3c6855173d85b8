"""Reading of the masks passed to attention functions: visible keys, and added biases."""

from __future__ import annotations

import numpy as np
import torch

from attnwidget.record import Floats
from attnwidget.record.scores import MASKED, Bools
from attnwidget.tracing import FunctionCall

from .items import Selection


def read_mask(call: FunctionCall, selection: Selection) -> tuple[Bools | None, Floats | None]:
    """(seen, bias) of one item without its padding, as `terms` takes them.

    Raises:
        ValueError: the mask has an unknown form.
    """
    tensor = dense_mask(call)
    bias = None if tensor is None or tensor.dtype == torch.bool else tensor
    seen = tensor if bias is None else bias > MASKED
    if (extra := call.options.get("position_bias")) is not None:
        bias = extra if bias is None else bias + extra
    causal = causal_mask(call) if call.causal else None
    if causal is not None:
        seen = causal if seen is None else seen & causal
    return (
        None if seen is None else _cut(seen, call, selection),
        None if bias is None else _cut(bias.float().nan_to_num(0, 0, 0), call, selection),
    )


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
    return torch.zeros(seen.shape, dtype=call.query.dtype).masked_fill(~seen, lowest)


def dense_mask(call: FunctionCall) -> torch.Tensor | None:
    """The mask as bool or float [1 or M, 1 or heads, Tq, Tk]."""
    mask = call.mask
    num_queries, num_keys = call.query.shape[-2], call.key.shape[-2]
    if mask is None:
        return _windowed(call, None)
    if isinstance(mask, torch.Tensor) and mask.ndim in (2, 4):
        if mask.ndim == 4:
            return mask[..., :num_keys].detach().cpu()
        if mask.shape[-1] >= num_keys:  # flash attention's mask of padding
            return _windowed(call, mask[:, None, None, -num_keys:].detach().cpu().bool())
    if hasattr(mask, "mask_mod"):  # flex attention
        from torch.nn.attention.flex_attention import create_mask

        batch, heads = call.query.shape[:2]
        device = str(call.query.device)
        dense = create_mask(mask.mask_mod, batch, heads, num_queries, num_keys, device)
        return dense.detach().cpu()
    shape = f" of shape {list(mask.shape)}" if isinstance(mask, torch.Tensor) else ""
    raise ValueError(f"its mask, a {type(mask).__name__}{shape}, has an unknown form")


def _windowed(call: FunctionCall, padding: torch.Tensor | None) -> torch.Tensor | None:
    """The mask of flash attention's sliding window, which is an option, and of padding."""
    size = call.options.get("sliding_window") if call.options.get("flash") else None
    if size is None:
        return padding
    num_queries, num_keys = call.query.shape[-2], call.key.shape[-2]
    distance = torch.arange(num_keys)[None] - torch.arange(num_queries)[:, None]
    near: torch.Tensor = (distance - (num_keys - num_queries) > -size)[None, None]
    return near if padding is None else padding & near


def causal_mask(call: FunctionCall) -> torch.Tensor:
    """The keys that a causal call sees, bool [1, 1, Tq, Tk]."""
    num_queries, num_keys = call.query.shape[-2], call.key.shape[-2]
    return torch.ones(num_queries, num_keys, dtype=torch.bool).tril()[None, None]


def _cut(tensor: torch.Tensor, call: FunctionCall, selection: Selection) -> np.ndarray:
    """Cut [1 or M, 1 or heads, Tq, Tk] of a call to [1 or heads, R, Tk] of an item."""
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
