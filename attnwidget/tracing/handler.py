"""The interface of a handler, which receives the events of a trace and may change outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from .calls import Address, Call, Read, ReadMixing


class PassEnded(BaseException):
    """Raised by a handler that has seen enough of a pass. No Exception, which a model may catch."""


class Handler:
    """Receives the events of a trace; a subclass overrides the methods that it needs.

    An exception that a handler raises ends the forward pass.

    Attributes:
        change: what it changes in the model, in words; "" for nothing.
    """

    change = ""

    def bias(
        self,
        address: Address,
        shape: Callable[[], torch.Size],
        seen: Callable[[], torch.Tensor],
    ) -> torch.Tensor | None:
        """Called for the scores of an attention call, before `attention`.

        Args:
            address: the place of the call in the trace.
            shape: returns that of the scores, [M, heads, Tq, Tk]; raises ValueError if their
                layout is not known.
            seen: returns True for the keys that any query sees, bool [M, Tk]; raises as `shape`.

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

    def mixing(self, address: Address, read: ReadMixing) -> torch.Tensor | None:
        """Called after a call that mixes tokens without a softmax.

        Args:
            address: the place of the call in the trace; a module's calls are counted with those of
                its attention.
            read: returns the call's tensors; raises ValueError if their meaning is not known.

        Returns:
            Outputs [M, heads, T, d_v] to replace those of the call, or None to keep them.
        """

    def module_entered(
        self, module: torch.nn.Module, args: tuple[Any, ...]
    ) -> tuple[Any, ...] | None:
        """Called before a module of the model runs; may return other arguments for it."""

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> Any:
        """Called after a module of the model, within `parent`, has run.

        Returns:
            Another output for it, or None to keep its own.
        """


@dataclass(frozen=True)
class Receiver:
    """A module that received the head outputs of a call as its only argument.

    Attributes:
        module: the module.
        input: the argument, [..., heads * d_v].
        heads, width: the number of heads, and d_v.
    """

    module: torch.nn.Module
    input: torch.Tensor
    heads: int
    width: int


class Receivers:
    """Finds the receivers of each attention call, outermost first.

    A handler reports the calls that are of interest, and all modules.

    Attributes:
        by_call: the receivers of each call that has any.
    """

    def __init__(self) -> None:
        self.by_call: defaultdict[Address, list[Receiver]] = defaultdict(list)
        self._latest: tuple[Address, torch.Size, torch.Tensor] | None = None

    def expect(self, address: Address, output: torch.Tensor | None) -> None:
        """Look for modules that receive these head outputs [M, heads, Tq, d_v] of a call."""
        self._latest = None
        if output is not None:
            self._latest = address, output.shape, output.transpose(1, 2).flatten()

    def module_entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> Receiver | None:
        """Compare the arguments of a module that is about to run with the expected outputs."""
        if self._latest is None or len(args) != 1 or not isinstance(args[0], torch.Tensor):
            return None
        address, (_, heads, _, width), expected = self._latest
        received = args[0]
        if received.numel() != expected.numel() or received.shape[-1] != heads * width:
            return None
        if not torch.equal(received.flatten(), expected):
            return None
        receiver = Receiver(module, received, heads, width)
        self.by_call[address].append(receiver)
        return receiver
