"""Replacements of the outputs of heads, or of what is at another place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from attnwidget.record import AttentionRecord, Floats
from attnwidget.record.scores import MASKED
from attnwidget.tracing import Call, FunctionCall, MixingCall, head_values
from attnwidget.tracing.masks import additive

from .by_layer import HeadOutputs, Place
from .edits import Mode


def replacement(
    mode: Mode, call: Call | MixingCall, own: torch.Tensor, *, cross: bool
) -> torch.Tensor:
    """Compute what replaces the numbers at a place of a call.

    Args:
        own: the numbers there, [M, heads, T, d]; head outputs, unless the mode is "mean".
        cross: True for cross-attention.

    Returns:
        [M, heads, T, d], or a tensor that broadcasts to it.

    Raises:
        ValueError: the call does not tell its values or mask, or it has no softmax.
    """
    if mode == "zero":
        return torch.zeros_like(own)
    if mode == "mean":
        return _mean(call, own, cross=cross)
    if isinstance(call, MixingCall):
        raise ValueError(
            f"{type(call.module).__name__} has no softmax, so that no weights could be spread or "
            f"be of one value: mode {mode!r} is of a softmax alone; use 'zero' or 'mean'"
        )
    values = head_values(call)
    if mode == "self":
        num_queries, num_keys = own.shape[2], values.shape[2]
        if num_queries > num_keys:
            raise ValueError("mode 'self' needs a key at the position of every query")
        return values[:, :, num_keys - num_queries :]
    seen = _seen(call)
    weights = seen / seen.sum(dim=-1, keepdim=True).clamp(min=1)
    return weights.to(values) @ values


def _mean(call: Call | MixingCall, own: torch.Tensor, *, cross: bool) -> torch.Tensor:
    """The mean over the positions that are not padding, where the call tells: [M, heads, 1, d]."""
    seen = None if cross or isinstance(call, MixingCall) else _seen(call)
    if seen is None or seen.shape[2] != seen.shape[3]:
        return own.mean(dim=2, keepdim=True)
    # No token sees padding, and each sees itself.
    kept = seen.diagonal(dim1=2, dim2=3).any(dim=1)
    return mean_over(own, kept | ~kept.any(dim=1, keepdim=True))


def mean_over(own: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
    """The mean of [M, heads, T, d] over the tokens that are seen, bool [M, T]: [M, heads, 1, d]."""
    where = seen[:, None, :, None]
    return own.masked_fill(~where, 0).sum(dim=2, keepdim=True) / where.sum(dim=2, keepdim=True)


def patched(
    source: HeadOutputs | AttentionRecord,
    at: Place,
    stack: str,
    layer: int,
    own: torch.Tensor,
    *,
    head: int | None = None,
    positions: Sequence[int] | None = None,
    first: int = 0,
) -> torch.Tensor:
    """The numbers of another run, in the shape of those of this one [M, heads, T, d].

    Args:
        at: the place.
        head: the number of the only head of `own` in its layer; None for all.
        positions: those that are replaced; None for all. Others have what is there in this run.
        first: the position of the first token of `own`.

    Raises:
        KeyError, IndexError: the other run has no such stack or layer.
        ValueError: what was there has another shape, or is not known.
    """
    if isinstance(source, HeadOutputs):
        given = source.layer(layer, stack)
    else:
        given = _recorded(source, at, stack, layer)[None]
    there = torch.tensor(given)
    if head is not None:
        there = there[:, head : head + 1]
    shape, count = list(own.shape), own.shape[2]
    # Heads may share the keys and values that another run has for each.
    shared = at in ("keys", "values") and there.shape[1] < shape[1]
    if shared and shape[1] % there.shape[1] == 0:
        there = there.repeat_interleave(shape[1] // there.shape[1], dim=1)
    chosen = [each - first for each in positions or () if first <= each < first + count]
    mean = isinstance(source, HeadOutputs) and bool(source.over) and there.shape[2] == 1
    fits = list(there.shape) if positions is None else [*there.shape[:2], count, there.shape[3]]
    if mean:
        fits[2] = count
    elif at == "weights" and positions is not None and there.shape[3] < shape[3]:
        # Later tokens of a text that is being generated.
        there = torch.nn.functional.pad(there, (0, shape[3] - there.shape[3]))
        fits[3] = shape[3]
    beyond = not mean and any(each + first >= there.shape[2] for each in chosen)
    if fits[1:] != shape[1:] or fits[0] not in (1, shape[0]) or beyond:
        raise ValueError(
            f"layer {layer} of stack {stack!r} has {WORDS.get(at, at)} of shape {shape} here "
            f"(texts, heads, tokens, width), and {list(given.shape)} in the source: give one of "
            "as many heads and tokens, of one text or of as many texts"
        )
    there = there.to(own)
    if positions is None or mean:
        return there.expand(shape)
    new = own.clone()
    new[:, :, chosen] = there[:, :, [each + first for each in chosen]]
    return new


def _recorded(record: AttentionRecord, at: Place, stack: str, layer: int) -> Floats:
    """A record's vectors or weights of a layer, [heads or key heads, tokens, width]."""
    recorded = record.layer(layer, stack)
    if at == "weights":
        return recorded.all_weights(np.arange(recorded.shape[0]))
    found: Floats | None = getattr(recorded, at)
    if found is None:
        hint = ": capture it with values=True" if at == "values" else ""
        raise ValueError(f"the record has no {at} of layer {layer} of stack {stack!r}{hint}")
    return found


# What is at a place, in the plural.
WORDS = {"head": "head outputs", "embedding": "embeddings", "attention": "attention outputs"}
WORDS |= {"mlp": "MLP outputs"}


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
