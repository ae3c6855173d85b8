"""Windows that are shifted: the grid of tokens is rolled before it is cut, and back afterwards."""

from __future__ import annotations

from collections import Counter
from typing import Any
from weakref import WeakSet

import torch

# The modules whose latest call was within shifted windows.
_shifted: WeakSet[torch.nn.Module] = WeakSet()


def is_shifted(module: torch.nn.Module) -> bool:
    """True if the tokens of a module's latest call that was traced lay in a rolled grid."""
    return module in _shifted


class Rolls:
    """The steps by which the grid of a pass is rolled, those back included."""

    def __init__(self) -> None:
        self._steps: Counter[int] = Counter()

    def add(self, grid: torch.Tensor, shifts: Any, dims: Any) -> None:
        """Add a torch.roll of several dimensions at once, which is one of a grid."""
        if isinstance(dims, (tuple, list)) and len(dims) > 1:
            for dim, shift in zip(dims, shifts, strict=True):
                self._steps[dim % grid.ndim] += int(shift)

    def note(self, module: torch.nn.Module) -> None:
        """Keep for `is_shifted` whether the grid is rolled as this module attends."""
        (_shifted.add if any(self._steps.values()) else _shifted.discard)(module)
