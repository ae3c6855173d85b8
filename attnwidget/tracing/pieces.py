"""The tensors that modules were called with: heads of one layer read the same one."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.weak import WeakIdKeyDictionary

from .calls import Address


class Arguments:
    """Numbers the tensors that modules receive first."""

    def __init__(self) -> None:
        self._numbers: WeakIdKeyDictionary = WeakIdKeyDictionary()
        self._of: dict[int, int] = {}
        self._count = 0

    def entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        """Note a module that is about to run."""
        self._of.pop(id(module), None)
        if args and isinstance(args[0], torch.Tensor):
            if args[0] not in self._numbers:
                self._count += 1
                self._numbers[args[0]] = self._count
            self._of[id(module)] = self._numbers[args[0]]

    def of(self, module: torch.nn.Module) -> int | None:
        """The number of the tensor that a module was called with last."""
        return self._of.get(id(module))


def beside(one: Address, argument: int | None, other: Address, its: int | None) -> bool:
    """True if two modules of one list, one after the other, were called with the same tensor."""
    (list_of_one, _, first), (list_of_other, _, second) = (
        address.module.rpartition(".") for address in (one, other)
    )
    return (
        argument is not None
        and argument == its
        and (list_of_one, one.step, one.call) == (list_of_other, other.step, other.call)
        and first.isdigit()
        and second.isdigit()
        and int(second) == int(first) + 1
    )
