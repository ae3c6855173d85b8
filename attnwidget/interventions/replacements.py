"""Head outputs that stand for a head that is switched off."""

from __future__ import annotations

import torch

from attnwidget.record.scores import MASKED
from attnwidget.tracing import Call, FunctionCall, MixingCall, head_values
from attnwidget.tracing.masks import additive

from .by_layer import HeadOutputs
from .edits import Mode


def replacement(mode: Mode, call: Call | MixingCall, *, cross: bool) -> torch.Tensor:
    """Compute what replaces the outputs of all heads of a call.

    Args:
        cross: True for cross-attention.

    Returns:
        [M, heads, Tq, d_v], or a tensor that broadcasts to it.

    Raises:
        ValueError: the call does not tell its values or mask, or it has no softmax.
    """
    output = call.passed_on
    assert output is not None
    if mode == "zero":
        return torch.zeros_like(output)
    if isinstance(call, MixingCall):
        if mode == "mean":
            return _mean(output, None)
        raise ValueError(
            f"{type(call.module).__name__} has no softmax, so that no weights could be spread or "
            f"be of one value: mode {mode!r} is of a softmax alone; use 'zero' or 'mean'"
        )
    if mode == "mean":
        return _mean(output, None if cross else _seen(call))
    values = head_values(call)
    if mode == "self":
        num_queries, num_keys = output.shape[2], values.shape[2]
        if num_queries > num_keys:
            raise ValueError("mode 'self' needs a key at the position of every query")
        return values[:, :, num_keys - num_queries :]
    seen = _seen(call)
    weights = seen / seen.sum(dim=-1, keepdim=True).clamp(min=1)
    return weights.to(values) @ values


def patched(
    source: HeadOutputs, stack: str, layer: int, before: torch.Tensor, head: int | None = None
) -> torch.Tensor:
    """The head outputs of another run, in the shape of those of this one [M, heads, Tq, d_v].

    Args:
        head: the number of the only head of `before` in its layer; None for all.

    Raises:
        KeyError, IndexError: the other run has no such stack or layer.
        ValueError: its outputs have another shape.
    """
    outputs = source.layer(layer, stack)
    if head is not None:
        outputs = outputs[:, head : head + 1]
    shape = tuple(before.shape)
    if outputs.shape[1:] != shape[1:] or len(outputs) not in (1, len(before)):
        raise ValueError(
            f"layer {layer} of stack {stack!r} has head outputs of shape {list(shape)} here "
            f"(texts, heads, tokens, width), and {list(outputs.shape)} in the source: give one of "
            "as many tokens, of one text or of as many texts"
        )
    return torch.from_numpy(outputs).to(before).expand(shape)


def _mean(output: torch.Tensor, seen: torch.Tensor | None) -> torch.Tensor:
    """The mean over the positions that are not padding, [M, heads, 1, d_v].

    Args:
        seen: where a query may see a key, as `_seen` returns it; None if keys are other tokens.
    """
    if seen is None or seen.shape[2] != seen.shape[3]:
        return output.mean(dim=2, keepdim=True)
    # No token sees padding, and each sees itself.
    own = seen.diagonal(dim1=2, dim2=3).any(dim=1)
    own = (own | ~own.any(dim=1, keepdim=True))[:, None, :, None]
    total = output.masked_fill(~own, 0).sum(dim=2, keepdim=True)
    return total / own.sum(dim=2, keepdim=True)


def _seen(call: Call) -> torch.Tensor:
    """True where a query may see a key, [M, heads, Tq, Tk]."""
    if not isinstance(call, FunctionCall):
        if call.logits is call.weights:
            raise ValueError("the mask of this attention is not known")
        return call.layout.apply(call.logits)[..., : call.shape[3]] > MASKED
    mask = additive(call)
    if mask is None:
        return torch.ones(call.shape, dtype=torch.bool, device=call.query.device)
    return (mask > MASKED).to(call.query.device).expand(call.shape)
