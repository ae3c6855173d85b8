"""Head outputs that stand for a head that is switched off."""

from __future__ import annotations

import torch

from attnwidget.tracing import Call, FunctionCall, SoftmaxCall
from attnwidget.tracing.layout import Layout
from attnwidget.tracing.masks import additive

from .edits import Mode


def replacement(mode: Mode, call: Call) -> torch.Tensor:
    """Compute what replaces the outputs of all heads of a call.

    Returns:
        [M, heads, Tq, d_v], or a tensor that broadcasts to it.

    Raises:
        ValueError: the call does not tell its values or mask.
    """
    output = call.passed_on
    assert output is not None
    if mode == "zero":
        return torch.zeros_like(output)
    if mode == "mean":
        return output.mean(dim=2, keepdim=True)
    values = head_values(call)
    if mode == "self":
        num_queries, num_keys = output.shape[2], values.shape[2]
        if num_queries > num_keys:
            raise ValueError("mode 'self' needs a key at the position of every query")
        return values[:, :, num_keys - num_queries :]
    seen = _seen(call)
    weights = seen / seen.sum(dim=-1, keepdim=True).clamp(min=1)
    return weights.to(values) @ values


def head_values(call: Call) -> torch.Tensor:
    """The values of each query head, [M, heads, Tk, d_v].

    Raises:
        ValueError: they are not known.
    """
    if call.value is None:
        raise ValueError("the values of this attention are not known")
    value = call.value if isinstance(call, FunctionCall) else _softmax_values(call, call.value)
    return value.repeat_interleave(call.shape[1] // value.shape[1], dim=1)


def _softmax_values(call: SoftmaxCall, value: torch.Tensor) -> torch.Tensor:
    """The values by head; batch and heads may be folded into one dimension here alone."""
    if value.ndim == call.layout.ndim:
        return call.layout.apply(value)
    found = Layout.of(value.shape, call.module, call.shape[0]).apply(value)
    weights = call.layout.apply(call.weights)
    if call.output is None or not torch.allclose(weights @ found, call.output, atol=1e-4):
        raise ValueError("the layout of the values is not known")
    return found


def _seen(call: Call) -> torch.Tensor:
    """True where a query may see a key, [M, heads, Tq, Tk]."""
    if not isinstance(call, FunctionCall):
        logits = call.layout.apply(call.logits)[..., : call.shape[3]]
        return logits > torch.finfo(logits.dtype).min / 2
    mask = additive(call)
    if mask is None:
        return torch.ones(call.shape, dtype=torch.bool, device=call.query.device)
    return (mask > torch.finfo(call.query.dtype).min / 2).to(call.query.device).expand(call.shape)
