"""One forward pass, observed, with the model put back exactly as it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import torch

from attnwidget.progress import step_done
from attnwidget.record import Floats, Layer

from .calls import Call, FunctionCall, SoftmaxCall
from .device import device_of
from .explain_function import FunctionExplainer
from .explain_softmax import explain_softmax
from .functional import FunctionalAttention
from .interface import interface_calls
from .item import Item
from .layout import Layout
from .masks import additive
from .modules import Running
from .projection import Projections
from .rotary import Rotations

# What a capture changes for its length (the interface's lookups, torch's compiler stance) belongs
# to the whole process, and the model may be shared, so captures take turns.
_one_at_a_time = threading.RLock()

_active: list[FunctionalAttention] = []


@dataclass(frozen=True)
class Seen:
    """One call of attention.

    Attributes:
        module: the name of the module that called.
        step: in which forward pass of the model, counted from 0 (-1: before the first).
        layers: what it computed for each item asked for; empty if it was not wanted.
        reason: why there is no layer, or "".
    """

    module: str
    step: int
    layers: tuple[Layer, ...]
    reason: str = ""


@dataclass(frozen=True)
class Observed:
    """What a run of the model gave.

    Attributes:
        calls: all calls of attention, in order.
        called: the names of all modules that ran.
        result: what the run returned.
    """

    calls: list[Seen]
    called: set[str]
    result: Any


def observe(
    model: torch.nn.Module,
    run: Callable[[], Any],
    items: Callable[[str], Sequence[Item]],
    wanted: Callable[[str], bool],
    values: bool,
) -> Observed:
    """Run, and write every attention of the model down.

    Args:
        model: the model.
        run: calls it.
        items: which parts of the batch to record, by the name of the module.
        wanted: whether the attention of a module, by its name, is to be recorded.
        values: whether values are recorded as well.
    """
    calls: list[Seen] = []
    running = Running(model)
    batch = items("")[0].batch

    def followed(call: FunctionCall, item: Item) -> list[Layer]:
        """What the model's own explicit function does, and what it returns."""
        assert call.replay is not None
        seen: list[Call] = []
        with FunctionalAttention(running, lambda make, _: seen.append(make()), len(call.query)):
            _, weights = call.replay(additive(call))
        if isinstance(weights, torch.Tensor):
            layout = Layout(4, 1, len(call.query))
            own = SoftmaxCall(call.module, weights, weights, None, None, None, layout)
            seen.append(own)
        return [explain_softmax(x, item, "") for x in seen if isinstance(x, SoftmaxCall)]

    explainer = FunctionExplainer(values, followed)

    projections, rotations = Projections(), Rotations(running)

    def note(make: Callable[[], Call], module: torch.nn.Module) -> None:
        name = running.name(module)
        if not wanted(name):
            calls.append(Seen(name, running.step, ()))
            return
        try:
            # Under autocast, what is compared with would be rounded as the model is.
            with torch.autocast(device_of(model).type, enabled=False):
                call = make()
                layers = tuple(
                    explainer.layer(call, item, name)
                    if isinstance(call, FunctionCall)
                    else explain_softmax(call, item, name, values=values)
                    for item in items(name)
                )
                rotary = rotations.rotary(call)
                layers = tuple(
                    layer if layer.queries is None else replace(layer, rotary=rotary)
                    for layer in layers
                )
                if values:
                    projections.expect(len(calls), _output(call))
            calls.append(Seen(name, running.step, layers))
        except Exception as error:  # of this call alone; told to the reader of the record
            reason = str(error) or type(error).__name__
            calls.append(Seen(name, running.step, (), reason))
        step_done()

    functional = FunctionalAttention(running, note, batch)
    with (
        _one_at_a_time,
        _alone(functional),
        undisturbed(model),
        running.followed(projections.entered if values else None, rotations.left),
        interface_calls(running, note, functional.paused),
        functional,
    ):
        result = run()
        with functional.paused():
            for number, matrix in projections.matrices().items():
                layers = tuple(_projected(layer, matrix) for layer in calls[number].layers)
                calls[number] = replace(calls[number], layers=layers)
    return Observed(calls, running.called, result)


@contextmanager
def _alone(functional: FunctionalAttention) -> Iterator[None]:
    """A capture within a capture (in a hook, say) is not part of the outer one."""
    with ExitStack() as outer:
        for other in _active:
            outer.enter_context(other.paused())
        _active.append(functional)
        try:
            yield
        finally:
            _active.remove(functional)


def _output(call: Call) -> torch.Tensor | None:
    if isinstance(call, FunctionCall) or call.output is None:
        return call.output
    with suppress(ValueError):
        return call.layout.apply(call.output)
    return None


def _projected(layer: Layer, matrix: Floats) -> Layer:
    fits = layer.values is not None and matrix.shape[:2] == (
        layer.num_heads,
        layer.values.shape[2],
    )
    return replace(layer, projection=matrix) if fits else layer


@contextmanager
def undisturbed(model: torch.nn.Module) -> Iterator[None]:
    """No gradients, no dropout, no compilation, and every module's mode put back afterwards."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        for module, _ in modes:
            # The flag alone: train() and eval() are overridden by some adapters to merge weights.
            module.training = False
        with torch.no_grad(), torch.compiler.set_stance("force_eager"):
            yield
    finally:
        for module, training in modes:
            module.training = training
