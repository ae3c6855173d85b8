"""Attention calls with the queries, keys, values or weights of another run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from attnwidget.record import AttentionRecord, Floats
from attnwidget.tracing import Call, FunctionCall, SoftmaxCall, head_values
from attnwidget.tracing.layout import Layout
from attnwidget.tracing.masks import additive

from .edits import Patch


def substituted(call: Call, patch: Patch, stack: str, layer: int, heads: torch.Tensor) -> Call:
    """The call as it would have been with the record's vectors or weights in some heads.

    Args:
        call: an attention call of the model.
        patch: of queries, keys, values or weights.
        stack, layer: the place of the call.
        heads: True for the heads that are replaced, bool [heads].

    Raises:
        KeyError, IndexError: the record has no such stack or layer.
        ValueError: the record lacks them, or has them in another shape; or the model's attention
            does not let them be replaced.
    """
    if call.output is None:
        raise ValueError("the head outputs of this attention are not known")
    what = patch.what
    given, place = _recorded(patch, stack, layer), f"layer {layer} of stack {stack!r}"

    def merged(own: torch.Tensor) -> torch.Tensor:
        """The model's own vectors or weights, with the record's in the heads that are replaced."""
        of_heads = _sharing(heads, own.shape[1], f"of {place} share their {_NAMES[what]}")
        new = _like(given, own, what, place)
        return torch.where(of_heads[:, None, None].to(own.device), new, own)

    changed: Call
    if what == "weights":
        weights, value = merged(_weights(call)), head_values(call)
        layout = Layout.plain(len(weights))
        changed = SoftmaxCall(
            call.module, weights.log(), weights, None, value, layout, rebuild=call.rebuild
        )
        output = weights @ value
    elif isinstance(call, FunctionCall):
        vectors = {"query": call.query, "key": call.key, "value": call.value}
        vectors[what] = merged(vectors[what])
        changed = replace(call, query=vectors["query"], key=vectors["key"], value=vectors["value"])
        output = _outputs(changed, changed.value)
    elif what == "value":
        value = merged(head_values(call))
        shape = torch.Size((*call.weights.shape[:-2], *value.shape[-2:]))
        changed = replace(call, value=call.layout.restore(value, shape))
        output = call.layout.apply(call.weights) @ value
    else:
        raise ValueError(
            f"{type(call.module).__name__} computes scores by code of its own, in which "
            f"{_NAMES[what]} may have other uses: patch its weights, values or outputs"
        )
    # The outputs of all other heads stay as they are, to the last bit.
    output = torch.where(heads[:, None, None].to(call.output.device), output, call.output)
    return replace(changed, output=output, edited=None)


_NAMES = {"query": "queries", "key": "keys", "value": "values", "weights": "weights"}


def _recorded(patch: Patch, stack: str, layer: int) -> Floats:
    """The record's vectors or weights of a layer, [heads or key heads, tokens, width]."""
    assert isinstance(patch.source, AttentionRecord)
    recorded = patch.source.layer(layer, stack)
    if patch.what == "weights":
        return recorded.all_weights(np.arange(recorded.shape[0]))
    found = {"query": recorded.queries, "key": recorded.keys, "value": recorded.values}[patch.what]
    if found is None:
        hint = ": capture it with values=True" if patch.what == "value" else ""
        raise ValueError(
            f"the record has no {_NAMES[patch.what]} of layer {layer} of stack {stack!r}{hint}"
        )
    return found


def _sharing(heads: torch.Tensor, count: int, share: str) -> torch.Tensor:
    """The same heads among so many, each of which several may share: bool [count]."""
    by_key_head = heads.reshape(count, -1)
    chosen = by_key_head.any(dim=1)
    split = (chosen & ~by_key_head.all(dim=1)).nonzero()
    if len(split):
        size = by_key_head.shape[1]
        first = int(split[0]) * size
        raise ValueError(f"heads {first} to {first + size - 1} {share}: patch all of them")
    return chosen


def _weights(call: Call) -> torch.Tensor:
    """The weights of a call, [M, heads, Tq, Tk]."""
    if isinstance(call, SoftmaxCall):
        return call.layout.apply(call.weights)
    # With a value of its own for each key, the outputs are the weights.
    keys = call.key.shape[2]
    one_hot = torch.eye(keys).to(call.value).expand(*call.value.shape[:2], keys, keys)
    return _outputs(call, one_hot)


def _outputs(call: FunctionCall, value: torch.Tensor) -> torch.Tensor:
    """The head outputs of a call's queries and keys with these values."""
    own = additive(call)
    size = (call.query.shape[-2], call.key.shape[-2])
    mask = call.query.new_zeros(1, 1, *size) if own is None else own.to(call.query)
    output = None
    if call.rerun is not None:
        mask = mask.expand(*mask.shape[:2], *size)
        output = call.rerun(call.query, call.key, value, mask)[1]
    if output is None:
        raise ValueError(
            f"the attention of {type(call.module).__name__} cannot be computed from other "
            "tensors: it has no function that computes weights explicitly; patch its outputs"
        )
    return output


def _like(given: Floats, own: torch.Tensor, what: str, place: str) -> torch.Tensor:
    """The record's array in the place of a tensor [M, heads, tokens, width]."""
    array = torch.tensor(given)
    # Several heads may share the keys and values of the record.
    shared = what in ("key", "value") and len(array) < own.shape[1]
    if shared and own.shape[1] % len(array) == 0:
        array = array.repeat_interleave(own.shape[1] // len(array), dim=0)
    if array.shape != own.shape[1:]:
        raise ValueError(
            f"{place} has {_NAMES[what]} of shape {list(own.shape[1:])} here (heads, tokens, "
            f"width), and {list(given.shape)} in the record: give one of as many heads and tokens"
        )
    return array.to(own).expand_as(own)
