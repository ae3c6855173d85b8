"""Tracing of a model: a handler receives its attention calls as it runs."""

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

# A trace changes the interface's lookups and torch's compiler stance, which belong to the whole
# process, and the model may be shared, so only one thread traces at a time.
_one_at_a_time = threading.RLock()

_active: list[Trace] = []


class Trace:
    """A model whose attention calls a handler receives."""

    def __init__(self, model: torch.nn.Module, handler: Handler, batch: int, *, once: bool) -> None:
        self.handler = handler
        self._once = once
        self.stack = ModuleStack(model)
        self.mode = AttentionMode(self.stack, self._of_functions, batch)
        # The calls of each route so far.
        self._by_interface = self._by_functions = 0
        self._calls: Counter[tuple[str, int]] = Counter()

    @property
    def called(self) -> set[str]:
        """The names of the modules that have been called."""
        return self.stack.called

    @contextmanager
    def following(self) -> Iterator[None]:
        """Report calls and modules to the handler within this context."""
        with (
            self.mode.following(),
            self.stack.following(self.handler, self._pass_started, self.mode.resume),
            interface_calls(self.stack, self._of_interface, self.mode.paused),
        ):
            yield

    def _of_interface(self, module: torch.nn.Module, read: Read, result: Any) -> Any:
        self._by_interface += 1
        return self.attention(module, read, result)

    def _of_functions(self, module: torch.nn.Module, read: Read, result: Any) -> Any:
        self._by_functions += 1
        return self.attention(module, read, result)

    def _pass_started(self) -> None:
        if self._once and self.stack.step > 0 and self._by_interface and not self._by_functions:
            self.stack.quiet = self.mode.suspend()

    def attention(self, module: torch.nn.Module, read: Read, result: Any) -> Any:
        """Report a call to the handler, and return the result for the model."""
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
def trace(
    model: torch.nn.Module, handler: Handler, batch: int, *, once: bool = False
) -> Iterator[Trace]:
    """Report every attention call of `model` to `handler` within this context.

    One thread at a time can trace, and only calls on this thread are traced. A trace within
    another, opened by a hook for instance, pauses the outer one. Models compiled by torch.compile
    are traced only within `undisturbed`.

    Args:
        model: the model.
        handler: receives its calls.
        batch: the number of items in a batch, for tensors whose layout does not tell it.
        once: True to follow modules and functions in the first forward pass alone, if all of its
            attention goes through transformers' interface: to follow them can take as long as a
            pass over one token.
    """
    traced = Trace(model, handler, batch, once=once)
    with (
        _one_at_a_time,
        _alone(traced),
        traced.following(),
    ):
        yield traced


@contextmanager
def _alone(traced: Trace) -> Iterator[None]:
    """Pause the outer traces."""
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
    """Turn off gradients, dropout and compilation, and restore every module's mode afterwards."""
    with _one_at_a_time:
        modes = [(module, module.training) for module in model.modules()]
        try:
            for module, training in modes:
                if training:
                    # Only the flag: some adapters override train() and eval() to merge weights.
                    module.training = False
            with torch.no_grad(), torch.compiler.set_stance("force_eager"):
                yield
        finally:
            for module, training in modes:
                if module.training != training:
                    module.training = training
