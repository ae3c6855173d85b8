"""One text in every row of a batch, whose passes leave out the layers below a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from attnwidget.running.batches import TextBatch

from .sites import Site, followed
from .skipping import BlockFinder, ExactSkips


class RepeatedText:
    """A text in every row of a batch, each of which can be changed otherwise.

    Args:
        model: the model, undisturbed.
        text: the inputs of one text.
        rows: how often it is repeated, unless it cannot be.

    Attributes:
        batch: the inputs.
        rows: the number of rows.
        plain: the output without a change.
        sites: the attention calls of the model.
        by_interface: see `attnwidget.tracing.Trace`.

    Raises:
        ValueError: the model has no attention whose head outputs can be changed.
    """

    def __init__(self, model: torch.nn.Module, text: TextBatch, rows: int) -> None:
        self._model = model
        self.batch, self.rows = repeated(text, rows)
        self._finder = self._single = BlockFinder(model)
        self.plain, self.sites, traced = followed(model, self.batch, self._finder)
        self.by_interface = traced.by_interface
        output = self.plain
        # Skips are tried with one row, which takes a fraction of the time.
        if self.rows > 1:
            self._single = BlockFinder(model)
            output, _, _ = followed(model, text, self._single)
        self._skips = ExactSkips(text, output)

    def above(self, changed: Sequence[Site]) -> AbstractContextManager[None]:
        """A context in which the layers below the first of these calls are not computed again.

        All are if the output would not be the same to the last bit.
        """
        return self._skips.below(self._model, self._finder.blocks, changed, self._single.blocks)


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
