"""A text in rows, and layers that return what they returned before instead of computing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model

from .sites import Site, SiteFinder, followed


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


class RepeatedText:
    """A text in every row of a batch, each of which can be changed otherwise.

    It does not refer to the model, which may be deleted.

    Args:
        model: the model, undisturbed.
        text: the inputs of one text.
        rows: how often it is repeated, unless it cannot be.

    Attributes:
        batch: the inputs.
        rows: the number of rows.
        plain: the output without a change.
        sites: the attention calls of the model.
        shapes: the shapes of their scores.
        by_interface: see `attnwidget.tracing.Trace`.
        blocks: the layers, with what they return.

    Raises:
        ValueError: the model has no attention whose head outputs can be changed.
    """

    def __init__(self, model: torch.nn.Module, text: TextBatch, rows: int) -> None:
        self.batch, self.rows = repeated(text, rows)
        finder = BlockFinder(model)
        self.plain, self.sites, traced = followed(model, self.batch, finder)
        self.by_interface = traced.by_interface
        self.shapes, self.blocks = finder.shapes, finder.blocks
        # Skips are tried with one row, which takes a fraction of the time.
        self._text, self._of_text, self._expected = text, self.blocks, self.plain
        if self.rows > 1:
            finder = BlockFinder(model)
            self._expected, _, _ = followed(model, text, finder)
            self._of_text = finder.blocks
        # By the number of first layers that are skipped, whether the output is the same.
        self._exact: dict[int, bool] = {0: False}

    @contextmanager
    def above(self, model: torch.nn.Module, changed: Sequence[Site]) -> Iterator[None]:
        """Do not compute the layers below the first of these calls again, within this context.

        All are if the output would not be the same to the last bit: a model whose layers share more
        than their outputs, such as the keys of an earlier layer, cannot skip all of them. Each
        number of first layers is tried once, by a pass without any other change.
        """
        holding = (
            number
            for number, block in enumerate(self.blocks)
            if any(site.module.startswith(f"{block.name}.") for site in changed)
        )
        count = min(holding, default=0)
        if count not in self._exact:
            self._exact[count] = self._tried(model, count)
        with skipped(model, self.blocks[:count] if self._exact[count] else []):
            yield

    def _tried(self, model: torch.nn.Module, count: int) -> bool:
        try:
            with skipped(model, self._of_text[:count]):
                again = run_model(model, self._text, all_logits=True)
        except Exception:  # a later layer lacks what a skipped one would have left for it
            return False
        pairs = list(zip(_tensors(self._expected), _tensors(again), strict=False))
        return bool(pairs) and all(torch.equal(a, b) for a, b in pairs)


def _tensors(output: Any) -> list[torch.Tensor]:
    found = [getattr(output, name, None) for name in ("logits", "last_hidden_state")]
    return [each for each in found if isinstance(each, torch.Tensor)]


def repeated(batch: TextBatch, rows: int) -> tuple[TextBatch, int]:
    """The text in so many rows; in one, if the first dimension of an input is not that of rows."""
    tensors = [value for value in batch.tensors.values() if isinstance(value, torch.Tensor)]
    if any(not tensor.ndim or len(tensor) != 1 for tensor in tensors):
        return batch, 1
    repeated = {
        name: value.repeat(rows, *[1] * (value.ndim - 1))
        if isinstance(value, torch.Tensor)
        else value
        for name, value in batch.tensors.items()
    }
    return TextBatch(repeated, batch.texts * rows, batch.rows * rows), rows


def row_of(output: Any, row: int, rows: int) -> Any:
    """The output for one row of a batch, as for a batch of that row alone."""
    if isinstance(output, torch.Tensor):
        return output[row : row + 1] if output.ndim and len(output) == rows else output
    if isinstance(output, Mapping):
        fields = {name: row_of(value, row, rows) for name, value in output.items()}
        return type(output)(**fields)
    if isinstance(output, (list, tuple)):
        return tuple(row_of(value, row, rows) for value in output)
    return output


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
