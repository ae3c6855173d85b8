"""Tracing of a model: a handler receives its attention calls as it runs."""

from __future__ import annotations

import functools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch

from .bands import band_calls
from .calls import Address, Call, FunctionCall, Read, ReadMixing
from .deformable import deformable_calls
from .function_mode import AttentionMode
from .handler import Handler
from .interface import interface_calls
from .masks import biased, seen_keys
from .modules import ModuleStack, Route
from .recurrences import mixing_calls

# A trace changes the interface's lookups and torch's compiler stance, which belong to the whole
# process, and the model may be shared, so only one thread traces at a time.
_one_at_a_time = threading.RLock()

_active: list[Trace] = []
# The active traces that change the model.
_changing: list[Trace] = []


class Trace:
    """A model whose attention calls a handler receives."""

    def __init__(
        self,
        model: torch.nn.Module,
        handler: Handler,
        batch: int | None,
        *,
        within: Sequence[Trace],
    ) -> None:
        self.handler = handler
        self._outer = within
        self.stack = ModuleStack(model)
        self.mode = AttentionMode(self.stack, self._of_functions, batch, self._bias)
        # The calls whose scores were changed before their softmax.
        self._biased: set[Address] = set()
        # The calls of each route so far.
        self._by_interface = self._by_functions = 0
        self._calls: Counter[tuple[str, int]] = Counter()
        self._with_functions = True

    @property
    def called(self) -> set[str]:
        """The names of the modules that have been called."""
        return self.stack.called

    @property
    def products(self) -> set[str]:
        """The names of the modules that multiplied two tensors of the model's own."""
        return self.mode.products

    @property
    def by_interface(self) -> bool:
        """True if all calls so far went through transformers' interface."""
        return self._by_interface > 0 and self._by_functions == 0

    @contextmanager
    def following(self, *, interface_only: bool) -> Iterator[None]:
        """Report calls and modules to the handler within this context."""
        self._with_functions = not interface_only
        interface = Route(self.stack, self._of_interface, self.mode.paused)
        if interface_only:
            with interface_calls(interface):
                yield
            return
        functions = interface._replace(observe=self._of_functions)
        with (
            self.mode,
            self.stack.following(self.handler),
            interface_calls(interface),
            band_calls(functions),
            deformable_calls(functions),
            mixing_calls(interface._replace(observe=self._of_mixing)),
        ):
            yield

    def _of_interface(self, module: torch.nn.Module, read: Read, result: Any) -> Any:
        self._by_interface += 1
        return self._observed(module, read, result)

    def _of_functions(self, module: torch.nn.Module, read: Read, result: Any) -> Any:
        self._by_functions += 1
        return self._observed(module, read, result)

    def _of_mixing(self, module: torch.nn.Module, read: ReadMixing, result: Any) -> Any:
        return self._observed(module, read, result, is_mixing=True)

    def _observed(
        self,
        module: torch.nn.Module,
        read: Callable[[], Any],
        result: Any,
        *,
        is_mixing: bool = False,
    ) -> Any:
        """Report a call to the handlers, and return the result for the model.

        The handlers of outer traces come first, so that this one sees what they changed.
        """
        for each in (*self._outer, self):
            if each.stack.owns(module):
                read, result = each._reported(module, read, result, is_mixing)
        return result

    def _bias(
        self,
        module: torch.nn.Module,
        shape: Callable[[], torch.Size],
        seen: Callable[[], torch.Tensor],
    ) -> torch.Tensor | None:
        """The numbers that all handlers add to the scores of a call."""
        total: torch.Tensor | None = None
        for each in (*self._outer, self):
            if each.stack.owns(module):
                address = each._next(module)
                added = each.handler.bias(address, shape, seen)
                if added is not None:
                    each._biased.add(address)
                    total = added if total is None else total + added
        return total

    def _next(self, module: torch.nn.Module) -> Address:
        """The address of the next call of a module."""
        name, step = self.stack.name(module), self.stack.step
        return Address(name, step, self._calls[name, step])

    def _reported(
        self, module: torch.nn.Module, read: Callable[[], Any], result: Any, is_mixing: bool
    ) -> tuple[Callable[[], Any], Any]:
        address = self._next(module)
        self._calls[address.module, address.step] += 1
        read = functools.cache(read)
        changed: torch.Tensor | Call | None
        if is_mixing:
            changed = self.handler.mixing(address, read)
        else:
            if self._with_functions:
                self.mode.rolls.note(module)
            read, result = self._with_bias(address, read, result)
            changed = self.handler.attention(address, read)
        if changed is None:
            return read, result
        call = read()
        if call.passed_on is None or call.rebuild is None:
            raise ValueError(f"the head outputs of {address} cannot be changed")
        edited = replace(call, edited=changed) if isinstance(changed, torch.Tensor) else changed
        outputs = edited.passed_on
        if outputs is None or outputs.shape != call.passed_on.shape:
            given = None if outputs is None else list(outputs.shape)
            raise ValueError(
                f"the {'' if is_mixing else 'head '}outputs of {address} have shape "
                f"{list(call.passed_on.shape)}, not {given}"
            )
        return lambda: edited, _stored_as(result, call.rebuild(outputs))

    def _with_bias(self, address: Address, read: Read, result: Any) -> tuple[Read, Any]:
        """Run an attention function once more if its scores are to be changed."""
        bias = self.handler.bias(address, lambda: read().shape, lambda: seen_keys(read()))
        if bias is None:
            return read, result
        call = read()
        if not isinstance(call, FunctionCall):
            if address in self._biased:
                return read, result
            raise ValueError(f"the scores of {address} cannot be changed: their origin is unknown")
        changed, result = biased(call, bias)
        return lambda: changed, result


def _stored_as(before: Any, changed: Any) -> Any:
    """A function's changed result in the memory format of its own, of which a model takes views."""
    if isinstance(changed, (tuple, list)):
        return (_stored_as(before[0], changed[0]), *changed[1:])
    if not isinstance(changed, torch.Tensor) or before.shape != changed.shape:
        return changed
    if changed is before or before.stride() == changed.stride():
        return changed
    return torch.empty_like(before).copy_(changed)


@contextmanager
def trace(
    model: torch.nn.Module,
    handler: Handler,
    batch: int | None,
    *,
    changes: bool = False,
    interface_only: bool = False,
) -> Iterator[Trace]:
    """Report every attention call of `model` to `handler` within this context.

    One thread at a time can trace, and only calls on this thread are traced. A trace within
    another, opened by a hook for instance, pauses the outer one; if that changes the model, its
    handler receives each call first, and the inner one sees what it changed. Models compiled by
    torch.compile are traced only within `undisturbed`.

    Args:
        model: the model.
        handler: receives its calls.
        batch: the number of items in a batch, for tensors whose layout does not tell it; None if it
            is not known.
        changes: True if the handler changes the model.
        interface_only: True to follow neither modules nor functions, in one forward pass of a model
            of which `Trace.by_interface` is known.
    """
    with _one_at_a_time:
        traced = Trace(model, handler, batch, within=tuple(_changing))
        with _alone(traced), traced.following(interface_only=interface_only), ExitStack() as undo:
            if changes:
                _changing.append(traced)
                undo.callback(_changing.remove, traced)
            yield traced


def is_changed() -> bool:
    """True within a trace whose handler changes a model."""
    return bool(_changing)


def changes_of(model: torch.nn.Module) -> list[str]:
    """The changes of a model in the traces around this call, in words, the outermost first."""
    return [
        each.handler.change
        for each in _changing
        if each.handler.change and any(map(each.stack.owns, model.modules()))
    ]


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
