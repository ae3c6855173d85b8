"""The weights of every attention call for each text of a batch, without padding.

Weights follow from the call's queries, keys and mask for the whole batch at once, and count only if
they lead to the call's own output. Where they do not, the texts are explained one by one as
`attnwidget.capture` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import torch

from attnwidget.record import Floats
from attnwidget.record.scores import MASKED
from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.running.items import Item, Items, Selection
from attnwidget.running.missing import missing_attention
from attnwidget.running.model import device_of, is_encoder_decoder, without_autocast
from attnwidget.running.tolerance import tolerance
from attnwidget.tracing import (
    Address,
    Call,
    CallId,
    FunctionCall,
    Handler,
    Read,
    SoftmaxCall,
    trace,
    undisturbed,
)
from attnwidget.tracing.masks import causal_mask, dense_mask

from .explain_function import FunctionExplainer
from .explain_softmax import explain_softmax
from .recorder import RecordedCall

# (call, row of the batch, weights [heads, Tq, Tk]).
Receive: TypeAlias = Callable[[CallId, int, Floats], None]


def read_attention(model: torch.nn.Module, batch: TextBatch, receive: Receive) -> list[str]:
    """Run the model over a batch, and pass on the weights of every attention call.

    The model runs as in `attnwidget.capture`, unchanged and without gradients and dropout.

    Returns:
        What could not be read, as "module: reason".

    Raises:
        ValueError: a text is longer than the model takes.
    """
    reader = _Reader(model, batch, receive)
    with undisturbed(model), trace(model, reader, len(batch.texts)) as traced:
        run_model(model, batch)
    return missing_attention(model, reader.calls, traced.called)


class _Reader(Handler):
    """Passes on the weights of every call.

    Attributes:
        calls: all calls, without their layers.
    """

    def __init__(self, model: torch.nn.Module, batch: TextBatch, receive: Receive) -> None:
        self.calls: list[RecordedCall] = []
        self._device = device_of(model)
        two = is_encoder_decoder(model)
        self._items = [Items(row, two=two) for row in batch.rows]
        self._receive = receive

    def attention(self, address: Address, read: Read) -> None:
        name = address.module
        try:
            with without_autocast(self._device):
                items = [item for each in self._items for item in each.of(name)]
                found = text_weights(read(), items, name)
        except Exception as error:  # other calls are still read
            reason = str(error) or type(error).__name__
            self.calls.append(RecordedCall(address, (), reason))
            return
        self.calls.append(RecordedCall(address, ()))
        for row, weights in enumerate(found):
            self._receive(CallId(name, address.call), row, weights)


def text_weights(call: Call, items: Sequence[Item], name: str) -> list[Floats]:
    """The weights of each text: float32 [heads, Tq, Tk].

    Args:
        call: the call.
        items: the texts of the batch.
        name: of the module that called.

    Raises:
        ValueError: the weights are not known: the mask or the layout cannot be read, or what
            follows from queries and keys is not what the model computed.
    """
    whole = _of_softmax(call) if isinstance(call, SoftmaxCall) else _of_function(call)
    shape = whole.shape[-2], whole.shape[-1]
    selections = [item.select(len(whole), shape) for item in items]
    separate = all(selection.count == 1 for selection in selections)
    if separate and (isinstance(call, SoftmaxCall) or _leads_to_output(whole, call, selections)):
        array = whole.to("cpu", torch.float32).numpy()
        return [_cut(array, selection) for selection in selections]
    return [_explained(call, item, name) for item in items]


def _of_softmax(call: SoftmaxCall) -> torch.Tensor:
    weights = call.layout.apply(call.weights.detach())
    # Rows that see no key are NaN in some models.
    blind = (call.layout.apply(call.logits.detach()) == -np.inf).all(dim=-1, keepdim=True)
    return weights.masked_fill(blind, 0)


def _of_function(call: FunctionCall) -> torch.Tensor:
    """The softmax of a call's arguments, float32 [M, heads, Tq, Tk]."""
    query, key = call.query.detach().float(), call.key.detach().float()
    scale, softcap, sinks, position_bias = (
        call.options.get(name) for name in ("scaling", "softcap", "s_aux", "position_bias")
    )
    scores = _products(query, key) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    mask = dense_mask(call)
    if mask is not None:
        mask = mask.to(scores.device)
        if mask.dtype != torch.bool:
            scores = scores + mask
            mask = mask > MASKED
        scores = scores.masked_fill(~mask, -torch.inf)
    if position_bias is not None:
        scores = scores + position_bias.detach().float()
    if call.causal:
        scores = scores.masked_fill(~causal_mask(call), -torch.inf)
    if sinks is not None:
        column = sinks.detach().float().reshape(1, -1, 1, 1)
        scores = torch.cat([scores, column.expand(*scores.shape[:-1], 1)], dim=-1)
    weights = torch.softmax(scores, dim=-1)[..., : key.shape[-2]]
    # Rows that see no key are NaN.
    return weights.nan_to_num(0)


def _products(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """Queries times keys, [M, heads, Tq, Tk], where several heads may share a key head."""
    heads, key_heads = query.shape[1], key.shape[1]
    grouped = query.reshape(len(query), key_heads, -1, query.shape[-1])
    product = grouped @ key.transpose(-1, -2)
    return product.reshape(len(query), heads, query.shape[-2], key.shape[-2])


def _leads_to_output(
    weights: torch.Tensor, call: FunctionCall, selections: Sequence[Selection]
) -> bool:
    """True if weights times values are the call's output, as far as that is known."""
    if call.output is None:
        return True
    value = call.value.detach().float()
    grouped = weights.reshape(len(value), value.shape[1], -1, value.shape[-2])
    output = (grouped @ value).reshape(call.output.shape)
    difference = (output - call.output.detach().float()).abs().amax(dim=-1)
    largest = value.abs().amax(dim=(0, 2, 3)).clamp(min=1e-30)
    difference = difference / largest.repeat_interleave(weights.shape[1] // len(largest))[:, None]
    limit = tolerance(call.output.dtype, _largest_score(call))
    # Rows of padding, and those that see no key, may hold anything.
    difference = difference.masked_fill(weights.sum(dim=-1) == 0, 0)
    for selection in selections:
        errors = difference[selection.windows][0, :, selection.queries]
        if not (errors <= limit).all():  # also if an error is NaN
            return False
    return True


def _largest_score(call: FunctionCall) -> float:
    """An upper bound on |scale * q.k|."""
    scale = call.options.get("scaling")
    queries, keys = (
        float(vectors.detach().float().norm(dim=-1).max()) for vectors in (call.query, call.key)
    )
    factor = call.query.shape[-1] ** -0.5 if scale is None else abs(float(scale))
    return factor * queries * keys


def _cut(weights: Floats, selection: Selection) -> Floats:
    """The weights of one text, [heads, Tq, Tk]; a copy, never the model's own memory."""
    [own] = weights[selection.windows]
    for axis, positions in ((1, selection.queries), (2, selection.keys)):
        if len(positions) < own.shape[axis]:
            own = own.take(positions.numpy(), axis=axis)
    copy: Floats = np.array(own, order="C")
    return copy


def _explained(call: Call, item: Item, name: str) -> Floats:
    """The weights of one text by the layer that `attnwidget.capture` would record."""
    if isinstance(call, SoftmaxCall):
        layer = explain_softmax(call, item, name)
    else:
        layer = FunctionExplainer(values=False, check=True).layer(call, item, name)
    if layer.fidelity.exact is False:
        raise ValueError("the weights that follow from its arguments do not give its output")
    return layer.all_weights(np.arange(layer.shape[0]))
