"""Output projections behind gates: what stands between the outputs of heads and a module's output.

After a norm or a gate, a projection receives other numbers than the heads gave. Their ratio is the
gate, whatever computed it: with it, and with the projection, the module's output is a sum over
heads and keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from attnwidget.tracing import Address, MixingCall


@dataclass(frozen=True)
class Gated:
    """A module that received the outputs of heads, as something has changed them.

    Attributes:
        address: the call of which the outputs are.
        outputs: of all calls of the module, [M, heads, T, d_v], of the tokens that were received:
            a convolution also returns what its cache had before them.
        module: the receiver, the last before the module of the calls returned its output.
        input: what it received, [..., T, heads * d_v].
    """

    address: Address
    outputs: tuple[torch.Tensor, ...]
    module: torch.nn.Module
    input: torch.Tensor

    @property
    def gates(self) -> torch.Tensor:
        """The factor of each output, float64 [M, heads, T, d_v] of all calls; 0 where that is 0."""
        # Not every device has double precision.
        of_calls = [each.detach().cpu().double() for each in self.outputs]
        heads = torch.cat([each.transpose(1, 2).flatten(2) for each in of_calls], dim=-1)
        received = self.input.detach().cpu().double().reshape(heads.shape)
        ratio = torch.where(heads == 0, 0, received / heads)
        _, count, _, width = self.outputs[0].shape
        return ratio.reshape(*heads.shape[:2], -1, width).transpose(1, 2)[
            :, : count * len(self.outputs)
        ]


class GatedOutputs:
    """Finds the receivers of the latest calls. A handler reports calls and all modules."""

    def __init__(self) -> None:
        self._calls: list[tuple[Address, torch.Tensor]] = []
        self._local = False
        self._caller: torch.nn.Module | None = None
        self._left = False
        self._candidate: tuple[torch.nn.Module, torch.Tensor] | None = None
        self._output: torch.Tensor | None = None

    def expect(
        self, address: Address, caller: torch.nn.Module, output: torch.Tensor, local: bool = False
    ) -> None:
        """Look for the module that receives these outputs [M, heads, T, d_v] of a call.

        Args:
            local: True for a convolution, of which only the last tokens may be received.
        """
        self._local = local
        if self._caller is not caller or self._left:
            self._calls = []
        self._calls.append((address, output))
        self._caller, self._left, self._candidate, self._output = caller, False, None, None

    def entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        """Note a module that is about to run."""
        if not self._calls or len(args) != 1 or not isinstance(args[0], torch.Tensor):
            return
        items, _, tokens, _ = self._calls[0][1].shape
        width = sum(output.shape[1] * output.shape[3] for _, output in self._calls)
        given = args[0]
        rows, rest = divmod(given.numel(), items * width)
        fits = 0 < rows <= tokens if self._local else rows == tokens
        if given.ndim and given.shape[-1] == width and not rest and fits:
            self._candidate, self._output = (module, given), None

    def left(self, module: torch.nn.Module, output: Any) -> Iterator[Gated]:
        """Yield the receiver, if a module that has run returns what that returned."""
        if not self._calls:
            return
        if self._candidate is not None and module is self._candidate[0]:
            self._output = output if isinstance(output, torch.Tensor) else None
            return
        self._left = self._left or module is self._caller
        first = output[0] if isinstance(output, (tuple, list)) and output else output
        found = self._candidate is not None and self._output is not None
        if not (self._left and found and isinstance(first, torch.Tensor)):
            return
        assert self._candidate is not None
        assert self._output is not None
        if first.shape == self._output.shape and torch.equal(first, self._output):
            (address, _), *_ = self._calls
            items, width = self._calls[0][1].shape[0], self._candidate[1].shape[-1]
            rows = self._candidate[1].numel() // (items * width)
            outputs = tuple(output[:, :, -rows:] for _, output in self._calls)
            yield Gated(address, outputs, *self._candidate)
        self._calls, self._candidate, self._output = [], None, None


class ChannelCalls:
    """Calls that mix each channel by itself, until it is known what becomes of the channels."""

    def __init__(self) -> None:
        self._waiting: dict[Address, list[MixingCall]] = {}

    def add(self, address: Address, call: MixingCall) -> bool:
        """Keep a call; True if it is the first of its module."""
        latest = next(reversed(self._waiting), None)
        if latest is not None and self._waiting[latest][-1].module is call.module:
            self._waiting[latest].append(call)
            return False
        self._waiting[address] = [call]
        return True

    def taken(self, address: Address) -> list[MixingCall] | None:
        """The calls of the module whose first call this is, no longer kept; None without any."""
        return self._waiting.pop(address, None)

    def clear(self) -> None:
        """Let all go."""
        self._waiting.clear()
