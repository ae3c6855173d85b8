"""Traces of a model: a handler receives its attention calls, one by one, as it runs."""

from __future__ import annotations

import functools
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from .calls import Address, Read
from .function_mode import AttentionMode
from .handler import Handler
from .interface import interface_calls
from .modules import ModuleStack

# The interface's lookups and torch's compiler stance, changed for the length of a trace, belong to
# the whole process, and the model may be shared: so traces take turns.
_one_at_a_time = threading.RLock()

_active: list[Trace] = []


class Trace:
    """A model whose attention calls a handler receives."""

    def __init__(self, model: torch.nn.Module, handler: Handler, batch: int) -> None:
        self.handler = handler
        self.stack = ModuleStack(model)
        self.mode = AttentionMode(self.stack, self.attention, batch)
        self._calls: Counter[tuple[str, int]] = Counter()

    @property
    def called(self) -> set[str]:
        """The names of the modules that have been called."""
        return self.stack.called

    def attention(self, module: torch.nn.Module, read: Read, result: Any) -> Any:
        """The result with which the model goes on, after the handler has seen the call."""
        name, step = self.stack.name(module), self.stack.step
        address = Address(name, step, self._calls[name, step])
        self._calls[name, step] += 1
        read = functools.cache(read)
        outputs = self.handler.attention(address, read)
        if outputs is None:
            return result
        call = read()
        if call.output is None or call.rebuild is None:
            raise ValueError(f"the head outputs of {address} cannot be changed")
        if outputs.shape != call.output.shape:
            raise ValueError(
                f"the head outputs of {address} have shape {list(call.output.shape)}, "
                f"not {list(outputs.shape)}"
            )
        return call.rebuild(outputs)


@contextmanager
def trace(model: torch.nn.Module, handler: Handler, batch: int) -> Iterator[Trace]:
    """Within this context, `handler` receives every attention call of `model`.

    One thread at a time can trace, and only what the model does on this thread is traced. Within
    a trace, another one may be opened, by a hook for instance: until it is closed, nothing is
    traced for the outer one. What torch.compile has compiled is traced only within `undisturbed`.

    Args:
        model: the model.
        handler: receives its calls.
        batch: the number of items in a batch, where a tensor's layout leaves it open.
    """
    traced = Trace(model, handler, batch)
    with (
        _one_at_a_time,
        _alone(traced),
        traced.stack.following(handler),
        interface_calls(traced.stack, traced.attention, traced.mode.paused),
        traced.mode,
    ):
        yield traced


@contextmanager
def _alone(traced: Trace) -> Iterator[None]:
    """Pauses the traces around this one."""
    with ExitStack() as outer:
        for other in _active:
            outer.enter_context(other.mode.paused())
        _active.append(traced)
        try:
            yield
        finally:
            _active.remove(traced)


@contextmanager
def undisturbed(model: torch.nn.Module) -> Iterator[None]:
    """No gradients, no dropout, no compilation, and every module's mode put back afterwards."""
    with _one_at_a_time:
        modes = [(module, module.training) for module in model.modules()]
        try:
            for module, _ in modes:
                # The flag alone: some adapters override train() and eval() to merge weights.
                module.training = False
            with torch.no_grad(), torch.compiler.set_stance("force_eager"):
                yield
        finally:
            for module, training in modes:
                module.training = training
