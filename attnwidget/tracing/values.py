"""The values of attention calls, by head."""

from __future__ import annotations

import torch

from .calls import Call, FunctionCall, SoftmaxCall
from .layout import Layout


def head_values(call: Call) -> torch.Tensor:
    """The values of each query head of a call, [M, heads, Tk, d_v].

    Raises:
        ValueError: they are not known.
    """
    value = call.value if isinstance(call, FunctionCall) else softmax_values(call)
    return value.repeat_interleave(call.shape[1] // value.shape[1], dim=1)


def softmax_values(call: SoftmaxCall) -> torch.Tensor:
    """The values of a call, [M, heads or key heads, Tk, d_v].

    Batch and heads may be folded into one dimension in the product with the values alone.

    Raises:
        ValueError: they are not known.
    """
    value = call.value
    if value is None:
        raise ValueError("the values of this attention are not known")
    if value.ndim == call.layout.ndim:
        return call.layout.apply(value)
    found = Layout.of(value.shape, call.module, call.shape[0]).apply(value)
    weights = call.layout.apply(call.weights)
    if call.output is None or not torch.allclose(weights @ found, call.output, atol=1e-4):
        raise ValueError("the layout of the values is not known")
    return found
