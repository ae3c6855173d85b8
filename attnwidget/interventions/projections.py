"""Heads that are scaled, or switched off, in what their output projection receives."""

from __future__ import annotations

from typing import Any

import torch

from attnwidget.capture.gated import Gated, GatedOutputs
from attnwidget.running.tolerance import tolerance
from attnwidget.tracing import Address, MixingCall, Receivers


class ProjectionInputs:
    """Multiplies heads in the inputs of output projections.

    A projection is the first linear module that takes the outputs of all heads alone, as they are
    or as a module for normalisation returns them.
    """

    def __init__(self) -> None:
        self._receivers = Receivers()
        # The call whose projection has not run yet, the factors of its heads, and their outputs'
        # shape [M, heads, Tq, d_v].
        self._waiting: tuple[Address, torch.Tensor, torch.Size] | None = None
        # A module for normalisation that is running on these outputs.
        self._norm: torch.nn.Module | None = None
        self._linear: dict[int, bool] = {}
        self._testing = False

    def scale(self, address: Address, factors: torch.Tensor, outputs: torch.Tensor) -> None:
        """Multiply heads in the next projection.

        Args:
            address: the place of a call.
            factors: of the heads, [1 or M, Tq, heads].
            outputs: the head outputs of the call, [M, heads, Tq, d_v].

        Raises:
            ValueError: the one before did not run.
        """
        self.check()
        self._waiting = address, factors, outputs.shape
        self._receivers = Receivers()  # another one would keep what was received before
        self._receivers.expect(address, outputs)

    def check(self) -> None:
        """Raise a ValueError if the projection of the last call did not run."""
        if self._waiting is not None:
            raise ValueError(
                f"the output projection of {self._waiting[0].module} is not known: no linear "
                "module takes the outputs of its heads as they are, or after a norm alone. "
                "at='head' switches heads off before that"
            )

    def entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The changed arguments of a module that is about to run, if it is the projection."""
        if self._waiting is None or self._testing:
            return None
        receiver = self._receivers.module_entered(module, args)
        if receiver is None:
            return None
        if not self._is_linear(module, receiver.input):
            if "norm" in type(module).__name__.lower():
                self._norm = module
            return None
        _, factors, _ = self._waiting
        self._waiting = None
        return (_scaled(receiver.input, factors, receiver.width),)

    def left(self, module: torch.nn.Module, output: Any) -> None:
        """Expect what a norm of the head outputs has returned."""
        if self._waiting is None or self._norm is not module:
            return
        self._norm = None
        address, _, (leading, heads, queries, width) = self._waiting
        shape = leading, queries, heads, width
        if isinstance(output, torch.Tensor) and output.numel() == torch.Size(shape).numel():
            self._receivers.expect(address, output.reshape(shape).transpose(1, 2))

    def _is_linear(self, module: torch.nn.Module, received: torch.Tensor) -> bool:
        if id(module) not in self._linear:
            self._testing = True
            try:
                self._linear[id(module)] = _is_linear(module, received)
            finally:
                self._testing = False
        return self._linear[id(module)]


class GatedProjections:
    """Runs output projections once more, with heads multiplied, and passes on what they return.

    Which module is the projection is known only when its output is that of the module around it.
    """

    def __init__(self) -> None:
        self._found = GatedOutputs()
        # Of the calls whose projection has not run yet, the factors of their heads.
        self._waiting: dict[Address, torch.Tensor] = {}
        self._running = False

    def scale(self, address: Address, call: MixingCall, factors: torch.Tensor) -> None:
        """Multiply heads in the projection of a call, which is to come.

        Args:
            factors: of the heads, [1 or M, T, heads].

        Raises:
            ValueError: that of another module did not run.
        """
        if any(other._replace(call=address.call) != address for other in self._waiting):
            self.check()
        self._waiting[address] = factors
        self._found.expect(address, call.module, call.passed_on, call.local)

    def check(self) -> None:
        """Raise a ValueError if the projection of the last call did not run."""
        if self._waiting:
            raise ValueError(
                f"the output projection of {next(iter(self._waiting)).module} is not known: no "
                "linear module takes the outputs of its heads, or what a gate makes of them, and "
                "returns the output. at='head' switches heads off before that"
            )

    def entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        """Note a module that is about to run."""
        if self._waiting and not self._running:
            self._found.entered(module, args)

    def left(self, module: torch.nn.Module, output: Any) -> Any:
        """The output of a module with the heads multiplied, if it is that of the projection."""
        if not self._waiting or self._running:
            return None
        for gated in list(self._found.left(module, output)):
            if not _is_linear(gated.module, gated.input):
                self.check()
            changed = self._scaled(gated)
            self._waiting.clear()
            return (changed, *output[1:]) if isinstance(output, (tuple, list)) else changed
        return None

    def _scaled(self, gated: Gated) -> torch.Tensor:
        width = gated.outputs[0].shape[-1]
        factors = torch.cat(list(self._waiting.values()), dim=-1)
        self._running = True
        try:
            # Not called, as a user's hooks would run once more.
            received = _scaled(gated.input, factors, width)
            changed: torch.Tensor = gated.module.forward(received)
            return changed
        finally:
            self._running = False


def _scaled(received: torch.Tensor, factors: torch.Tensor, width: int) -> torch.Tensor:
    """The input of a projection, [..., heads * width], with heads multiplied by factors."""
    columns = factors.to(received).repeat_interleave(width, dim=-1)
    rows = received.reshape(-1, *columns.shape[1:])
    # Zero is zero also where the numbers are not finite.
    new = torch.where(columns == 1, rows, (rows * columns).masked_fill(columns == 0, 0))
    return new.reshape(received.shape)


def _is_linear(module: torch.nn.Module, received: torch.Tensor) -> bool:
    """True if module(a) + module(b) = module(a + b) + module(0), for a row and random numbers."""
    row = received.detach().reshape(-1, received.shape[-1])[:1]
    numbers = torch.randn(row.shape, generator=torch.Generator().manual_seed(0))
    other = numbers.to(row) * row.abs().max().clamp(min=1)
    lead = (1,) * (received.ndim - 2)
    try:
        with torch.no_grad():
            results = [
                # Not called, as a user's hooks would run once more.
                module.forward(each.reshape(*lead, *each.shape)).float()
                for each in (row, other, row + other, torch.zeros_like(row))
            ]
    except Exception:  # the module does not take such rows
        return False
    of_row, of_other, of_sum, constant = results
    largest = torch.stack(results).abs().max().clamp(min=1)
    error = (of_row + of_other - of_sum - constant).abs().max()
    return bool(error <= 10 * tolerance(received.dtype) * largest)
