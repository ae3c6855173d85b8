"""The attention modules of a model by stack and layer, from their names alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import torch

from attnwidget.running.stacks import is_cross, numbers, stack_name, tower
from attnwidget.tracing import Address, is_attention


@dataclass(frozen=True)
class Place:
    """An attention module.

    Attributes:
        stack: the name of its stack.
        layer: its number.
        module: its name.
        call: the number of one of its calls in a pass, from 0; None for all of them.
    """

    stack: str
    layer: int
    module: str
    call: int | None = None

    def holds(self, address: Address) -> bool:
        """True if the call at this address is of the module, or of one within or around it."""
        if self.call is not None and self.call != address.call:
            return False
        own, other = f"{self.module}.", f"{address.module}."
        return own.startswith(other) or other.startswith(own)


def places(model: torch.nn.Module) -> list[Place]:
    """All attention modules, in the order of the model."""
    names = [name for name, module in model.named_modules() if is_attention(module)]
    inner = [n for n in names if not any(other.startswith(f"{n}.") for other in names)]
    kinds: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for name in inner:
        kinds[tower(name), is_cross(name)].append(name)
    towers = {each for each, _ in kinds}
    alone = len(kinds) == 1
    found = []
    for (tower_name, cross), modules in kinds.items():
        stack = "self" if alone else stack_name(tower_name, cross, towers)
        for module, number in zip(modules, numbers(modules), strict=True):
            found.append(Place(stack, number, module))
    return found
