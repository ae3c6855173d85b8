"""Layers that return what they returned before, in place of computing it once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from .sites import SiteFinder


@dataclass(frozen=True)
class Block:
    """A layer of the model, by its name, and what it returned in a pass."""

    name: str
    output: Any


class BlockFinder(SiteFinder):
    """Lists the layers of a pass besides its attention calls.

    A layer is the outermost member of a ModuleList that holds attention.

    Attributes:
        blocks: in the order in which they end, unless one runs more than once.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self._names = dict(outermost_members(model))
        self._blocks: list[Block] = []

    @property
    def blocks(self) -> list[Block]:
        names = [block.name for block in self._blocks]
        return self._blocks if len(set(names)) == len(names) else []

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        name = self._names.get(id(module))
        if name is not None:
            # Later modules and hooks may change the tensors in place.
            self._blocks.append(Block(name, cloned(output)))


@contextmanager
def skipped(model: torch.nn.Module, blocks: Sequence[Block]) -> Iterator[None]:
    """Let these layers return what they returned before, within this context."""
    modules = [model.get_submodule(block.name) for block in blocks]
    before = [vars(module).get("forward") for module in modules]
    try:
        for module, block in zip(modules, blocks, strict=True):
            module.forward = _returning(block.output)
        yield
    finally:
        for module, own in zip(modules, before, strict=True):
            vars(module).pop("forward", None)
            if own is not None:
                module.forward = own


def _returning(output: Any) -> Any:
    # Later modules may change a tensor in place.
    return lambda *_args, **_kwargs: cloned(output)


def cloned(output: Any) -> Any:
    """The same with copies of its tensors."""
    return tree_map_only(torch.Tensor, torch.clone, output)


def outermost_members(model: torch.nn.Module) -> Iterator[tuple[int, str]]:
    """(identity, name) of the outermost members of module lists."""
    lists: list[str] = []
    for name, module in model.named_modules():
        if any(name.startswith(f"{outer}.") for outer in lists):
            continue
        if isinstance(module, (torch.nn.ModuleList, torch.nn.Sequential)):
            lists.append(name)
            for child, member in module.named_children():
                yield id(member), f"{name}.{child}"
