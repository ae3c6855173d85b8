"""Reading of the masks passed to attention functions: visible keys, and added biases."""

from __future__ import annotations

import numpy as np
import torch

from attnwidget.record import Floats
from attnwidget.record.scores import MASKED, Bools
from attnwidget.running.items import Selection
from attnwidget.tracing import FunctionCall
from attnwidget.tracing.masks import causal_mask, dense_mask


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
