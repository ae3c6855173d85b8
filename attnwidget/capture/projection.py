"""What takes the heads' averages to the output of an attention layer, found by trying.

No weight is read: it may be transposed, quantised, on another device, or under an adapter.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch

from attnwidget.record import Floats

from .tolerance import tolerance


class Projections:
    """Which module receives the output of each attention, and what it does with it."""

    def __init__(self) -> None:
        self._latest: tuple[int, torch.Size, torch.Tensor] | None = None
        # Per call, the modules that were given its output, outermost first.
        self._candidates: dict[int, list[tuple[torch.nn.Module, torch.Tensor]]] = defaultdict(list)
        self._heads: dict[int, torch.Size] = {}

    def expect(self, call: int, output: torch.Tensor | None) -> None:
        """Look for the module that is given this output [M, heads, Tq, d_v] of a call."""
        self._latest = None
        if output is not None:
            self._latest = call, output.shape, output.transpose(1, 2).flatten()

    def entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        """A module is about to run."""
        if self._latest is None or len(args) != 1 or not isinstance(args[0], torch.Tensor):
            return
        call, shape, expected = self._latest
        given, width = args[0], shape[1] * shape[3]
        if given.numel() != expected.numel() or given.shape[-1] != width:
            return
        if torch.equal(given.flatten(), expected):
            self._candidates[call].append((module, given))
            self._heads[call] = shape

    def matrices(self) -> dict[int, Floats]:
        """Per call, float32 [heads, d_v, d_model], where the module is linear."""
        known: dict[int, torch.Tensor | None] = {}
        found = {}
        for call, candidates in self._candidates.items():
            for module, given in candidates:
                if id(module) not in known:
                    known[id(module)] = _matrix(module, given)
                matrix = known[id(module)]
                if matrix is not None:
                    _, heads, _, width = self._heads[call]
                    array: Floats = matrix.reshape(heads, width, -1).numpy().copy()
                    found[call] = array
                    break
        return found


def _matrix(module: torch.nn.Module, given: torch.Tensor) -> torch.Tensor | None:
    """[n, m] with module(x) - module(0) = x @ matrix, or None if there is none."""
    width = given.shape[-1]
    sample = given.reshape(-1, width)[:16]
    lead = (1,) * (given.ndim - 2)

    def run(rows: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = module(rows.reshape(*lead, *rows.shape))
        return out.reshape(len(rows), -1).detach().to("cpu", torch.float32)

    try:
        constant = run(torch.zeros_like(sample[:1]))
        matrix = run(torch.eye(width, dtype=given.dtype, device=given.device)) - constant
        expected = run(sample) - constant
    except Exception:  # it takes no rows by themselves
        return None
    off = (sample.to("cpu", torch.float32) @ matrix - expected).abs().max()
    return (
        matrix if off <= 10 * tolerance(given.dtype) * expected.abs().max().clamp(min=1) else None
    )
