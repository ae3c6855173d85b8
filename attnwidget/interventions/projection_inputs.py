"""Heads that are switched off in the input of the output projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from attnwidget.running.tolerance import tolerance
from attnwidget.tracing import Address


@dataclass
class _Wanted:
    """A projection that has not run yet.

    Attributes:
        address: the place of the call whose outputs it takes.
        off: True for the heads that are off, bool [heads].
        width: d_v.
        expected: its input, flattened.
        norm: a module for normalisation that is running on that input.
    """

    address: Address
    off: torch.Tensor
    width: int
    expected: torch.Tensor
    norm: torch.nn.Module | None = None


class ProjectionInputs:
    """Puts zeros for heads into the inputs of output projections.

    A projection is the first linear module that takes the outputs of all heads alone, as they are
    or as a module for normalisation returns them.
    """

    def __init__(self) -> None:
        self._wanted: _Wanted | None = None
        self._linear: dict[int, bool] = {}
        self._testing = False

    def switch_off(self, address: Address, off: torch.Tensor, outputs: torch.Tensor) -> None:
        """Put zeros in the place of heads in the next projection.

        Args:
            address: the place of a call.
            off: True for the heads, bool [heads].
            outputs: the head outputs of the call, [M, heads, Tq, d_v].

        Raises:
            ValueError: the one before did not run.
        """
        self.check()
        expected = outputs.transpose(1, 2).flatten()
        self._wanted = _Wanted(address, off, outputs.shape[3], expected)

    def check(self) -> None:
        """Raise a ValueError if the projection of the last call did not run."""
        if self._wanted is not None:
            raise ValueError(
                f"the output projection of {self._wanted.address.module} is not known: no linear "
                "module takes the outputs of its heads as they are, or after a norm alone. "
                "at='head' switches heads off before that"
            )

    def entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The changed arguments of a module that is about to run, if it is the projection."""
        wanted = self._wanted
        if wanted is None or self._testing or len(args) != 1:
            return None
        received = args[0]
        if not isinstance(received, torch.Tensor) or not _fits(received, wanted):
            return None
        if not torch.equal(received.flatten(), wanted.expected):
            return None
        if not self._is_linear(module, received):
            if "norm" in type(module).__name__.lower():
                wanted.norm = module
            return None
        self._wanted = None
        columns = wanted.off.repeat_interleave(wanted.width).to(received.device)
        return (received.masked_fill(columns, 0),)

    def left(self, module: torch.nn.Module, output: Any) -> None:
        """Expect what a norm of the head outputs has returned."""
        wanted = self._wanted
        if wanted is None or wanted.norm is not module:
            return
        wanted.norm = None
        if isinstance(output, torch.Tensor) and _fits(output, wanted):
            wanted.expected = output.flatten()

    def _is_linear(self, module: torch.nn.Module, received: torch.Tensor) -> bool:
        if id(module) not in self._linear:
            self._testing = True
            try:
                self._linear[id(module)] = _is_linear(module, received)
            finally:
                self._testing = False
        return self._linear[id(module)]


def _fits(tensor: torch.Tensor, wanted: _Wanted) -> bool:
    """True if a tensor has the outputs of all heads in its rows."""
    same_size = tensor.numel() == wanted.expected.numel()
    return same_size and tensor.shape[-1] == len(wanted.off) * wanted.width


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
