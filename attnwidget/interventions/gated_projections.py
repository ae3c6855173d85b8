"""Heads behind a gate that are scaled: in what a module's output projection has received."""

from __future__ import annotations

from typing import Any

import torch

from attnwidget.capture.gated import Gated, GatedOutputs
from attnwidget.tracing import Address, MixingCall

from .projection_inputs import is_linear, scaled


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
        self._found.expect(address, call.module, call.passed_on)

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
            if not is_linear(gated.module, gated.input):
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
            received = scaled(gated.input, factors, width)
            changed: torch.Tensor = gated.module.forward(received)
            return changed
        finally:
            self._running = False
