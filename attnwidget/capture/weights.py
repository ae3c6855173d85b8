"""The weights of every attention call for each text of a batch, without padding.

Weights follow from the score program of each text, and count only if all of them lead to the call's
own output. Where they do not, the text is explained as `attnwidget.capture` does it. Layers without
a softmax have coefficients in place of weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import torch

from attnwidget.record import Floats, Layer
from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.running.items import Item, Items, Selection
from attnwidget.running.missing import missing_attention
from attnwidget.running.mixers import mixing_modules
from attnwidget.running.model import autocast_type, device_of, is_foreign, without_autocast
from attnwidget.tracing import (
    Address,
    Call,
    CallId,
    FunctionCall,
    Handler,
    Piece,
    Read,
    ReadMixing,
    SoftmaxCall,
    Sources,
    goes_on,
    joined_as,
    trace,
    undisturbed,
)

from .check import leads_to_output
from .explain_function import FunctionExplainer
from .explain_softmax import explain_softmax
from .gated import ChannelCalls, GatedOutputs
from .joined import IN_PARTS, joined_weights
from .mixing import (
    NOT_PROJECTED,
    TOO_LONG,
    Mixing,
    is_too_long,
    layers_of_channels,
    recurrent_layer,
)


class Receive(Protocol):
    """A function that gets the attention of a call over one text."""

    def __call__(self, call: CallId, row: int, numbers: Floats, mixing: Mixing, /) -> None:
        """Receive what a call computed.

        Args:
            call: the call.
            row: of the batch.
            numbers: the weights [heads, Tq, Tk], or the coefficients.
            mixing: what computed them; coefficients have no softmax.
        """


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
    reader.finish()
    reader.let_go()
    mixing = mixing_modules(model, batch.tensors)
    return missing_attention(model, reader.calls, traced.called, traced.products, mixing)


class _Reader(Handler):
    """Passes on the weights of every call.

    Attributes:
        calls: the modules that called, with the reason why that was not read, or "".
    """

    def __init__(self, model: torch.nn.Module, batch: TextBatch, receive: Receive) -> None:
        self.calls: dict[str, str] = {}
        self._device = device_of(model)
        self._items = [Items(model, row) for row in batch.rows]
        self._receive = receive
        self._explainers = [FunctionExplainer(values=False, check=False) for _ in batch.rows]
        self._sources = Sources(is_foreign)
        self._modules = dict(model.named_modules())
        # The latest calls that may be pieces of one layer, with their weights of each text.
        self._pieces: list[tuple[Piece, list[Floats]]] = []
        self._gated = GatedOutputs()
        self._channels = ChannelCalls()

    def module_entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        self._sources.entered(module, args)
        self._gated.entered(module, args)

    def attention(self, address: Address, read: Read) -> None:
        name = address.module
        try:
            with without_autocast(self._device):
                items = [each.of(address.id) for each in self._items]
                call = read()
                found = text_weights(call, items, name, self._explainers)
        except Exception as error:  # other calls are still read
            self.calls[name] = str(error) or type(error).__name__
            return
        piece = self._sources.piece(address, self._modules[name], call)
        self.calls.setdefault(name, "")
        if self._pieces and not goes_on(self._pieces[-1][0], piece):
            self.finish()
        self._pieces.append((piece, found))

    def mixing(self, address: Address, read: ReadMixing) -> None:
        name = address.module
        rounded = autocast_type(self._device)
        try:
            with without_autocast(self._device):
                call = read()
                if call.local and call.rerun is None:  # a step of another mixer
                    return
                if call.strengths is None:
                    self._gated.expect(address, call.module, call.output, call.local)
                    if self._channels.add(address, call):
                        self.calls.setdefault(name, NOT_PROJECTED)
                    return
                layers = [
                    recurrent_layer(
                        call, each.of(address.id), name, values=False, units=False, rounded=rounded
                    )
                    for each in self._items
                ]
                self._pass_on(address, dict(enumerate(layers)), "recurrence")
        except Exception as error:  # as above
            self.calls[name] = str(error) or type(error).__name__

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        for gated in self._gated.left(module, output):
            calls, name = self._channels.taken(gated.address) or (), gated.address.module
            # Within autocast, if there is any: functions and modules run as the model runs them.
            rounded = autocast_type(self._device)
            try:
                items = [each.of(gated.address.id) for each in self._items]
                # Of a batch with a text that is too long, the others are read.
                rows = [row for row, item in enumerate(items) if not is_too_long(gated, item)]
                if rows:
                    some = [items[row] for row in rows]
                    layers = layers_of_channels(calls, gated, some, name, rounded)
                    layers_by_row = dict(zip(rows, layers, strict=True))
                    self._pass_on(gated.address, layers_by_row, "channels")
                self.calls[name] = TOO_LONG if len(rows) < len(items) else ""
            except Exception as error:  # as above
                self.calls[name] = str(error) or type(error).__name__

    def _pass_on(self, address: Address, layers: Mapping[int, Layer], mixing: Mixing) -> None:
        """Pass on the coefficients of each text, by its row."""
        if any(layer.fidelity.exact is False for layer in layers.values()):
            raise ValueError("its coefficients do not give its output")
        self.calls[address.module] = ""
        for row, layer in layers.items():
            found = np.stack([layer.head_coefficients(head) for head in range(layer.num_heads)])
            self._receive(address.id, row, found, mixing)

    def finish(self) -> None:
        """Pass on the latest layer, or layers."""
        as_one = joined_as([piece for piece, _ in self._pieces])
        if as_one is None:
            for piece, found in self._pieces:
                for row, weights in enumerate(found):
                    self._receive(piece.address.id, row, weights, "softmax")
        elif as_one.kind == "parts":
            self.calls[as_one.module] = IN_PARTS
        else:
            call = CallId(as_one.module, self._pieces[0][0].address.call)
            for row, of_text in enumerate(zip(*(found for _, found in self._pieces), strict=True)):
                self._receive(call, row, joined_weights(of_text, as_one.kind), "softmax")
        self._pieces = []

    def let_go(self) -> None:
        """Drop the calls of channels whose projection was not found.

        A trace and its handler refer to each other: tensors would wait for the collector.
        """
        self._channels.clear()
        self._gated = GatedOutputs()


def text_weights(
    call: Call,
    items: Sequence[Item],
    name: str,
    explainers: Sequence[FunctionExplainer] | None = None,
) -> list[Floats]:
    """The weights of each text: float32 [heads, Tq, Tk].

    Args:
        call: the call.
        items: the texts of the batch.
        name: of the module that called.
        explainers: one for each text, which knows the masks that it has read; None for new ones.

    Raises:
        ValueError: the weights are not known: the mask or the layout cannot be read, or what
            follows from queries and keys is not what the model computed.
    """
    if isinstance(call, SoftmaxCall):
        return _of_softmax(call, items, name)
    explainers = explainers or [FunctionExplainer(values=False, check=False) for _ in items]
    return [
        _of_function(call, item, name, explainer)
        for item, explainer in zip(items, explainers, strict=True)
    ]


def _of_softmax(call: SoftmaxCall, items: Sequence[Item], name: str) -> list[Floats]:
    weights = call.layout.apply(call.weights.detach())
    # Rows that see no key are NaN in some models.
    blind = (call.layout.apply(call.logits.detach()) == -np.inf).all(dim=-1, keepdim=True)
    whole = weights.masked_fill(blind, 0)
    selections = [item.select(len(whole), (whole.shape[-2], whole.shape[-1])) for item in items]
    if any(selection.count > 1 for selection in selections):
        return [_weights_of(explain_softmax(call, item, name)) for item in items]
    array = whole.to("cpu", torch.float32).numpy()
    return [_cut(array, selection) for selection in selections]


def _of_function(call: FunctionCall, item: Item, name: str, explainer: FunctionExplainer) -> Floats:
    layer = explainer.layer(call, item, name)
    selection = item.select(len(call.query), (call.query.shape[-2], call.key.shape[-2]))
    if selection.count == 1:
        weights = layer.all_weights(np.arange(layer.shape[0]))
        if leads_to_output(layer, weights, call, selection):
            return weights
    checking = FunctionExplainer(values=False, check=True)
    return _weights_of(checking.layer(call, item, name))


def _weights_of(layer: Layer) -> Floats:
    if layer.fidelity.exact is False:
        raise ValueError("the weights that follow from its arguments do not give its output")
    return layer.all_weights(np.arange(layer.shape[0]))


def _cut(weights: Floats, selection: Selection) -> Floats:
    """The weights of one text, [heads, Tq, Tk]; a copy, never the model's own memory."""
    [own] = weights[selection.windows]
    for axis, positions in ((1, selection.queries), (2, selection.keys)):
        if len(positions) < own.shape[axis]:
            own = own.take(positions.numpy(), axis=axis)
    copy: Floats = np.array(own, order="C")
    return copy
