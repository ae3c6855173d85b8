"""Recording of a forward pass: every attention call is explained, checked and sent to a sink."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from attnwidget.progress import step_done
from attnwidget.record import Floats, Layer
from attnwidget.running.items import Item
from attnwidget.running.model import autocast_type, device_of, is_foreign, without_autocast
from attnwidget.running.projection import linear_matrix, projections
from attnwidget.tracing import (
    Address,
    Call,
    CallId,
    FunctionCall,
    Handler,
    MixingCall,
    Piece,
    Read,
    ReadMixing,
    Receivers,
    SoftmaxCall,
    Sources,
    trace,
    undisturbed,
)
from attnwidget.tracing.explicit import MOST_BYTES

from .explain_function import FunctionExplainer
from .explain_softmax import OF_MAPS, explain_softmax
from .gated import ChannelCalls, Gated, GatedOutputs
from .mixing import NOT_PROJECTED, head_gates, layers_of_channels, recurrent_layer
from .rotary import Rotation, Rotations, rotary


@dataclass(frozen=True)
class RecordedCall:
    """An attention call as a layer.

    Attributes:
        address: its place in the forward pass.
        layer: None if the call was left out or not understood.
        reason: why there is no layer, or "".
        piece: what it read.
        maps: the rows and columns of the feature maps whose cells its keys are, if they are.
        mixing: True of a call without a softmax.
    """

    address: Address
    layer: Layer | None
    piece: Piece
    reason: str = ""
    maps: tuple[tuple[int, int], ...] = ()
    mixing: bool = False


class RecordedCalls:
    """Collects all calls, in order, with their projections.

    Raises:
        ValueError: the weights that are kept take too much memory.
    """

    def __init__(self) -> None:
        self._calls: dict[Address, RecordedCall] = {}
        self._bytes = 0

    def add(self, call: RecordedCall) -> None:
        """Receive a call."""
        layer = call.layer
        kept = 0 if layer is None or layer.weights is None else layer.weights.nbytes
        if layer is not None and self._bytes + kept > MOST_BYTES:
            heads, queries, keys = layer.num_heads, *layer.shape
            why = (
                f"up to {call.address.module}, the weights of this text take "
                f"{(self._bytes + kept) / 1e9:.1f} GB ({heads} heads times {queries} x {keys} "
                "tokens in each layer, which queries and keys do not give): record some layers at "
                "a time, with layers=[0, 1] for instance, or a shorter text"
            )
            # An encoder of feature maps is large; the decoder after it is what most look at.
            if layer.fidelity.route != OF_MAPS:
                raise ValueError(why)
            call, kept = replace(call, layer=None, reason=why), 0
        self._calls[call.address] = call
        self._bytes += kept

    def add_gates(self, address: Address, gates: Floats, matrix: Floats) -> None:
        """Receive what stands between the heads of a call, added before, and its module's output.

        Args:
            gates: [heads, Tq, d_v].
            matrix: the output projection [heads, d_v, d_model].
        """
        call = self._calls[address]
        if call.layer is not None:
            layer = replace(call.layer, projection=matrix, gates=gates)
            self._calls[address] = replace(call, layer=layer)

    def has_projection(self, address: Address) -> bool:
        """True if the output projection of a call was added."""
        layer = self._calls[address].layer
        return layer is not None and layer.projection is not None

    def add_projection(self, address: Address, matrix: Floats) -> None:
        """Receive the output projection [heads, d_v, d_model] of a call that was added before."""
        call = self._calls[address]
        layer = call.layer
        if layer is None or layer.values is None:
            return
        if matrix.shape[:2] == (layer.num_heads, layer.values.shape[2]):
            self._calls[address] = replace(call, layer=replace(layer, projection=matrix))

    @property
    def calls(self) -> list[RecordedCall]:
        return list(self._calls.values())


@dataclass(frozen=True)
class ForwardPass:
    """The result of a run of the model.

    Attributes:
        called: the names of all modules that ran.
        products: the names of those that multiplied two tensors of the model's own.
        output: the model's output.
    """

    called: set[str]
    products: set[str]
    output: Any


def record_pass(
    model: torch.nn.Module,
    run: Callable[[], Any],
    item: Callable[[CallId], Item],
    sink: RecordedCalls,
    *,
    batch: int,
    wanted: Callable[[str], bool],
    values: bool,
    check: bool = True,
) -> ForwardPass:
    """Run the model without gradients and dropout, and send all its attention calls to a sink.

    Args:
        model: the model.
        run: calls it.
        item: returns the item of the batch to record of a call.
        sink: receives the calls.
        batch: the number of items that the model reads.
        wanted: True for the names of the modules whose attention is recorded.
        values: True to record values and output projections as well.
        check: True to compare the calls of functions with the model's own results. A softmax is
            always compared, because its weights are kept if no score program gives them.
    """
    recorder = _Recorder(model, item, sink, wanted, values, check)
    with undisturbed(model), recorder.rotations.watched():
        with trace(model, recorder, batch) as traced:
            output = run()
        for address, matrix in projections(recorder.receivers.by_call):
            sink.add_projection(address, matrix)
        recorder.finish()
    return ForwardPass(traced.called, traced.products, output)


class _Recorder(Handler):
    def __init__(
        self,
        model: torch.nn.Module,
        item: Callable[[CallId], Item],
        sink: RecordedCalls,
        wanted: Callable[[str], bool],
        values: bool,
        check: bool,
    ) -> None:
        self.receivers = Receivers()
        self._sources = Sources(is_foreign)
        self._modules = dict(model.named_modules())
        self._device = device_of(model)
        self._item = item
        self._sink = sink
        self._wanted = wanted
        self._values = values
        self._explainer = FunctionExplainer(values=values, check=check)
        self.rotations = Rotations(model)
        self._gated = GatedOutputs()
        # Receivers of gated heads; and the calls of channels that wait for theirs.
        self._found: list[Gated] = []
        self._channels = ChannelCalls()
        self._left_out: set[str] = set()
        # The classes of modules whose function was run once more.
        self._compared: set[type] = set()

    def attention(self, address: Address, read: Read) -> None:
        rotated = self.rotations.taken()
        module, call = self._modules[address.module], None
        wanted, reason = self._wanted(address.module), ""
        layer: Layer | None = None
        try:
            with without_autocast(self._device):
                # Code that is not of transformers may compute a layer in pieces.
                call = read() if wanted or is_foreign(type(module)) else None
                if wanted and call is not None:
                    layer = self._layer(address, call, rotated)
        except Exception as error:  # other calls are still recorded; the record has the reason
            reason = (str(error) or type(error).__name__) if wanted else ""
        piece = self._sources.piece(address, module, call)
        maps = call.maps if isinstance(call, SoftmaxCall) else ()
        self._sink.add(RecordedCall(address, layer, piece, reason, maps))
        if wanted:
            step_done()

    def mixing(self, address: Address, read: ReadMixing) -> None:
        layer, reason = None, ""
        try:
            if not self._wanted(address.module):
                # Of its calls, some may prepare values for another one.
                if address.module not in self._left_out:
                    self._left_out.add(address.module)
                    self._add(address, None, "")
                return None
            rounded = autocast_type(self._device)
            with without_autocast(self._device):
                call = read()
                if call.local and call.rerun is None:  # a step of another mixer
                    return None
                step_done()
                if call.strengths is None:
                    return self._wait(address, call)
                item = self._item(address.id)
                # A formula is that of a class; each layer's outputs are compared, too.
                units = type(call.module) not in self._compared
                self._compared.add(type(call.module))
                layer = recurrent_layer(
                    call, item, address.module, values=self._values, units=units, rounded=rounded
                )
        except Exception as error:  # as above
            reason = str(error) or type(error).__name__
        if layer is not None and self._values:
            self._gated.expect(address, call.module, call.output)
        return self._add(address, layer, reason)

    def _wait(self, address: Address, call: MixingCall) -> None:
        """Keep a call of channels until it is known what becomes of them."""
        self._gated.expect(address, call.module, call.output, call.local)
        if self._channels.add(address, call):
            # Layers are numbered in the order of their calls, also where one remains unknown.
            self._add(address, None, NOT_PROJECTED)

    def _add(self, address: Address, layer: Layer | None, reason: str) -> None:
        piece = self._sources.piece(address, self._modules[address.module], None)
        self._sink.add(RecordedCall(address, layer, piece, reason, mixing=True))

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        for gated in self._gated.left(module, output):
            calls = self._channels.taken(gated.address)
            if calls is None:
                self._found.append(gated)
                continue
            address, layer, reason = gated.address, None, ""
            try:
                # Within autocast, if there is any: they run as the model runs them.
                rounded, item = autocast_type(self._device), self._item(address.id)
                [layer] = layers_of_channels(calls, gated, [item], address.module, rounded)
            except Exception as error:  # as above
                reason = str(error) or type(error).__name__
            self._add(address, layer, reason)

    def finish(self) -> None:
        """Send what is known at the end of the pass alone."""
        matrices: dict[int, torch.Tensor | None] = {}
        for gated in self._found:
            if self._sink.has_projection(gated.address):  # nothing stands between
                continue
            key = id(gated.module)
            if key not in matrices:
                matrices[key] = linear_matrix(gated.module, gated.input)
            if (matrix := matrices[key]) is not None:
                _, heads, _, width = gated.outputs[0].shape
                of_heads = matrix.reshape(heads, width, -1).numpy().copy()
                gates = head_gates(gated, self._item(gated.address.id))
                self._sink.add_gates(gated.address, gates, of_heads)
        # A trace and its handler refer to each other: tensors would wait for the collector.
        self._found.clear()
        self._channels.clear()
        self._gated = GatedOutputs()

    def module_entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        self._sources.entered(module, args)
        if self._values:
            self.receivers.module_entered(module, args)
        self._gated.entered(module, args)

    def _layer(self, address: Address, call: Call, rotated: list[Rotation]) -> Layer:
        """The layer of a call."""
        item = self._item(address.id)
        if isinstance(call, FunctionCall):
            layer = self._explainer.layer(call, item, address.module)
        else:
            layer = explain_softmax(call, item, address.module, values=self._values)
        if self._values:
            self.receivers.expect(address, None if layer.values is None else call.output)
            if layer.values is not None and call.output is not None:
                self._gated.expect(address, call.module, call.output)
        width = 0 if layer.queries is None else layer.queries.shape[2]
        if (turned := rotary(rotated, call, width)) is not None:
            layer = replace(layer, rotary=turned)
        return layer
