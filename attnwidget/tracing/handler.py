"""The events of a trace, and the changes that a caller may make in them."""

from __future__ import annotations

from typing import Any

import torch

from .calls import Address, Read


class Handler:
    """Receives the events of a trace. A subclass overrides those that it needs.

    An exception that a handler raises ends the forward pass.
    """

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        """An attention call has been computed.

        Args:
            address: its place in the trace.
            read: gives the call's tensors; raises ValueError where their layout is not known.

        Returns:
            Head outputs [M, heads, Tq, d_v] with which the model goes on in place of the call's
            own, or None to leave them as they are.
        """

    def module_entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        """A module of the model is about to run."""

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        """A module of the model, called within `parent`, has run."""
