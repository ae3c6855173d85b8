"""The interface of a handler, which receives the events of a trace and may change outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .calls import Address, Call, Read


class Handler:
    """Receives the events of a trace; a subclass overrides the methods that it needs.

    An exception that a handler raises ends the forward pass.

    Attributes:
        change: what it changes in the model, in words; "" for nothing.
    """

    change = ""

    def bias(self, address: Address, shape: Callable[[], torch.Size]) -> torch.Tensor | None:
        """Called for the scores of an attention call, before `attention`.

        Args:
            address: the place of the call in the trace.
            shape: returns that of the scores, [M, heads, Tq, Tk]; raises ValueError if their
                layout is not known.

        Returns:
            Numbers to add to the scores before the softmax, which broadcast to their shape (-inf
            hides a key from a query), or None to keep them.
        """

    def attention(self, address: Address, read: Read) -> torch.Tensor | Call | None:
        """Called after an attention call.

        Args:
            address: the place of the call in the trace.
            read: returns the call's tensors; raises ValueError if their layout is not known.

        Returns:
            Head outputs [M, heads, Tq, d_v] to replace those of the call; a call to stand in its
            place, for this model and for traces within this one; or None to keep the call.
        """

    def module_entered(
        self, module: torch.nn.Module, args: tuple[Any, ...]
    ) -> tuple[Any, ...] | None:
        """Called before a module of the model runs; may return other arguments for it."""

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        """Called after a module of the model, within `parent`, has run."""
