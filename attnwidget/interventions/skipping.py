"""Layers that return what they returned before, in place of computing it once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model

from .sites import Site, SiteFinder


@dataclass(frozen=True)
class Block:
    """A layer of the model and what it returned in a pass."""

    name: str
    module: torch.nn.Module
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
            self._blocks.append(Block(name, module, cloned(output)))


def _blocks_before(blocks: Sequence[Block], sites: Sequence[Site]) -> list[Block]:
    """The layers that end before the first of these calls."""
    holding = [
        number
        for number, block in enumerate(blocks)
        if any(site.module.startswith(f"{block.name}.") for site in sites)
    ]
    return list(blocks[: min(holding, default=0)])


@contextmanager
def skipped(blocks: Sequence[Block]) -> Iterator[None]:
    """Let these layers return what they returned before, within this context."""
    before = {block.name: vars(block.module).get("forward") for block in blocks}
    try:
        for block in blocks:
            block.module.forward = _returning(block.output)
        yield
    finally:
        for block in blocks:
            vars(block.module).pop("forward", None)
            own = before[block.name]
            if own is not None:
                block.module.forward = own


class ExactSkips:
    """Finds out which first layers of a pass can be skipped without a change of its output.

    A model whose layers share more than their outputs, such as the keys of an earlier layer, cannot
    skip all of them. Each number of first layers is tried once, by a pass without any other change.

    Args:
        batch: the inputs of the pass.
        plain: its output.
    """

    def __init__(self, batch: TextBatch, plain: Any) -> None:
        self._batch = batch
        self._plain = _tensors(plain)
        self._exact: dict[int, bool] = {0: False}

    @contextmanager
    def below(
        self,
        model: torch.nn.Module,
        blocks: Sequence[Block],
        changed: Sequence[Site],
        tried: Sequence[Block],
    ) -> Iterator[None]:
        """Skip the layers below the first of some attention calls within this context.

        None is skipped if the output would not be the same to the last bit.

        Args:
            model: the model, undisturbed.
            blocks: its layers, with what they return here.
            changed: the attention calls.
            tried: its layers, with what they returned in the pass.
        """
        first = _blocks_before(blocks, changed)
        if len(first) not in self._exact:
            self._exact[len(first)] = self._tried(model, tried[: len(first)])
        with skipped(first if self._exact[len(first)] else []):
            yield

    def _tried(self, model: torch.nn.Module, first: Sequence[Block]) -> bool:
        try:
            with skipped(first):
                again = _tensors(run_model(model, self._batch, all_logits=True))
        except Exception:  # a later layer lacks what a skipped one would have left for it
            return False
        pairs = list(zip(self._plain, again, strict=False))
        return bool(pairs) and all(torch.equal(a, b) for a, b in pairs)


def _tensors(output: Any) -> list[torch.Tensor]:
    found = [getattr(output, name, None) for name in ("logits", "last_hidden_state")]
    return [each for each in found if isinstance(each, torch.Tensor)]


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
