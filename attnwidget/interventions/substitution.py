"""Places of an attention call: the numbers there, and the call with others."""

from __future__ import annotations

from dataclasses import replace

import torch

from attnwidget.tracing import Call, FunctionCall, SoftmaxCall, head_values
from attnwidget.tracing.layout import Layout
from attnwidget.tracing.masks import additive

from .by_layer import Place


def read_at(call: Call, at: Place) -> torch.Tensor:
    """The head outputs, queries, keys, values or weights, [M, heads or key heads, T, d].

    Raises:
        ValueError: they are not known.
    """
    if call.passed_on is None:
        raise ValueError("the head outputs of this attention are not known")
    if at == "head":
        return call.passed_on
    if at == "weights":
        return _weights(call)
    if isinstance(call, FunctionCall):
        return {"queries": call.query, "keys": call.key, "values": call.value}[at]
    if at == "values":
        return head_values(call)
    raise ValueError(
        f"{type(call.module).__name__} computes scores by code of its own, in which {at} may have "
        "other uses: patch its weights, values or outputs"
    )


def with_at(call: Call, at: Place, new: torch.Tensor) -> Call:
    """The call as it would have been with something else than `read_at` returns.

    Raises:
        ValueError: the model's attention does not let it be replaced.
    """
    if at == "head":
        return replace(call, edited=new)
    assert call.passed_on is not None
    differs = (new != read_at(call, at)).flatten(2).any(dim=2)
    if not bool(differs.any()):
        return call
    changed, output = outputs_with(call, at, new)
    # The outputs of all other heads stay as they are, to the last bit.
    heads = differs.repeat_interleave(output.shape[1] // differs.shape[1], dim=1)
    output = torch.where(heads[:, :, None, None], output, call.passed_on)
    return replace(changed, output=output, edited=None)


def outputs_with(call: Call, at: Place, new: torch.Tensor) -> tuple[Call, torch.Tensor]:
    """(the call with other queries, keys, values or weights, the head outputs that follow).

    Raises:
        ValueError: the model's attention does not let them be computed.
    """
    changed: Call
    if at == "weights":
        value = head_values(call)
        layout = Layout.plain(len(new))
        changed = SoftmaxCall(
            call.module, new.log(), new, None, value, layout, rebuild=call.rebuild
        )
        return changed, new @ value
    if isinstance(call, FunctionCall):
        changed = replace(
            call,
            query=new if at == "queries" else call.query,
            key=new if at == "keys" else call.key,
            value=new if at == "values" else call.value,
        )
        return changed, _outputs(changed, changed.value)
    shape = torch.Size((*call.weights.shape[:-2], *new.shape[-2:]))
    changed = replace(call, value=call.layout.restore(new, shape))
    return changed, call.layout.apply(call.weights) @ new


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
