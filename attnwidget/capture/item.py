"""Which part of a call is recorded: one item of the batch, without its padding."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Padded:
    """A sequence as the model gets it.

    Attributes:
        length: its length with padding.
        kept: the positions that are not padding.
    """

    length: int
    kept: torch.Tensor


@dataclass(frozen=True)
class Item:
    """One item of a batch.

    Attributes:
        batch: the number of items.
        index: which one.
        queries, keys: the sequence on either side of the attention, if it may be padded.
        repeats: how many equal entries for each item a leading dimension may have.
    """

    batch: int
    index: int
    queries: Padded | None = None
    keys: Padded | None = None
    repeats: int = 1

    def groups(self, leading: int) -> slice:
        """The part of a leading dimension that belongs to the item.

        A model that attends within windows has several entries for each item, one after the
        other; one whose leading dimension has nothing to do with the batch (packed images, for
        instance) is recorded whole.
        """
        if self.repeats > 1 and leading == self.batch * self.repeats:
            return slice(self.index * self.repeats, self.index * self.repeats + 1)
        if leading % self.batch:
            return slice(0, leading)
        each = leading // self.batch
        return slice(self.index * each, (self.index + 1) * each)

    def positions(self, shape: tuple[int, int], groups: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The query and key positions of an attention of shape (Tq, Tk) that are recorded."""
        sides = zip(shape, (self.queries, self.keys), strict=True)
        rows, columns = (
            padded.kept
            if padded is not None and padded.length == length and groups == 1
            else torch.arange(length)
            for length, padded in sides
        )
        return rows, columns
