"""Heads that are scaled, or switched off, in the input of the output projection."""

from __future__ import annotations

from typing import Any

import torch

from attnwidget.running.tolerance import tolerance
from attnwidget.tracing import Address, Receivers


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
        return (scaled(receiver.input, factors, receiver.width),)

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
                self._linear[id(module)] = is_linear(module, received)
            finally:
                self._testing = False
        return self._linear[id(module)]


def scaled(received: torch.Tensor, factors: torch.Tensor, width: int) -> torch.Tensor:
    """The input of a projection, [..., heads * width], with heads multiplied by factors."""
    columns = factors.to(received).repeat_interleave(width, dim=-1)
    rows = received.reshape(-1, *columns.shape[1:])
    # Zero is zero also where the numbers are not finite.
    new = torch.where(columns == 1, rows, (rows * columns).masked_fill(columns == 0, 0))
    return new.reshape(received.shape)


def is_linear(module: torch.nn.Module, received: torch.Tensor) -> bool:
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
