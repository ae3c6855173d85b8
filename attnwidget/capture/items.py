"""The part of each attention call that is recorded: one item of the batch, without its padding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from attnwidget.record import Floats

from .stacks import is_cross, tower

_MEDIA = ("vision", "audio", "qformer")


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
class Batch:
    """The items of which a model reads several at once, and the one that is recorded.

    Attributes:
        size: the number of items.
        index: the one that is recorded.
        text, target: its tokens, of the encoder (or the only ones) and of the decoder, if any.
        cached: the text and what a cache holds before it, if the mask says so.
        media: the number of images or sounds, or None.
    """

    size: int
    index: int
    text: Padded | None
    target: Padded | None
    cached: Padded | None
    media: int | None


@dataclass(frozen=True)
class Selection:
    """The entries of a call's tensors that belong to one item.

    Attributes:
        windows: of the leading dimension; of several, each attends within itself.
        queries, keys: the positions along either side.
    """

    windows: slice
    queries: torch.Tensor
    keys: torch.Tensor

    @property
    def count(self) -> int:
        """The number of windows."""
        return int(self.windows.stop - self.windows.start)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (Tq, Tk) of one window."""
        return len(self.queries), len(self.keys)

    def cut(self, heads: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """float32 [windows, heads, T, n] on the CPU, of [M, heads, all T, n]."""
        own = heads[self.windows].detach().to("cpu", torch.float32)
        return own if len(positions) == own.shape[-2] else own[:, :, positions]


@dataclass(frozen=True)
class Item:
    """One item of a batch.

    Attributes:
        batch: the number of items.
        index: the number of this one.
        queries, keys: the sequence on either side of the attention, if it may be padded.
        repeats: how many equal entries for each item a leading dimension may have.
    """

    batch: int
    index: int
    queries: Padded | None = None
    keys: Padded | None = None
    repeats: int = 1

    def select(self, leading: int, shape: tuple[int, int]) -> Selection:
        """The part of an attention that is recorded.

        Args:
            leading: the length of its leading dimension.
            shape: (Tq, Tk), with padding.
        """
        windows = self._windows(leading)
        queries, keys = (
            padded.kept
            if padded is not None and padded.length == length and windows.stop - windows.start == 1
            else torch.arange(length)
            for length, padded in zip(shape, (self.queries, self.keys), strict=True)
        )
        return Selection(windows, queries, keys)

    def _windows(self, leading: int) -> slice:
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


class Items:
    """The item that is recorded of each module's calls, by the tower that makes them.

    Args:
        batch: all items.
        two: whether an encoder reads one text, and a decoder another.
        repeats: how often `generate` may repeat what a tower reads, once for each beam.
    """

    def __init__(self, batch: Batch, *, two: bool, repeats: int = 1) -> None:
        self._batch = batch
        self._two = two
        self._repeats = repeats
        # One object for each kind: masks are read once for all calls with the same item.
        self._known: dict[tuple[str, bool], list[Item]] = {}

    def of(self, name: str) -> list[Item]:
        """The item that is recorded of a module's calls, alone in a list."""
        own, cross = tower(name), is_cross(name)
        if (own, cross) not in self._known:
            self._known[own, cross] = [self._item(own, cross)]
        return self._known[own, cross]

    def _item(self, own: str, cross: bool) -> Item:
        batch = self._batch
        size, index = batch.size, batch.index
        queries: Padded | None = batch.text
        keys = batch.cached or batch.text
        if own in _MEDIA:
            queries, keys = None, None
            # If there is not one image for each item, it is not known which are whose.
            size, index = (size, index) if batch.media in (None, size) else (1, 0)
        elif self._two and own == "decoder":
            queries, keys = batch.target, batch.text if cross else batch.target
        elif cross:
            keys = None
        return Item(size, index, queries, keys, self._repeats)


def joined(windows: torch.Tensor) -> Floats:
    """[windows, heads, T, n] -> [heads, windows * T, n]; a copy, never the model's own memory."""
    array: Floats = np.array(windows.transpose(0, 1).flatten(1, 2).numpy(), order="C")
    return array


def shared_heads(keys: Floats) -> int:
    """The number of neighbouring heads with the same keys [heads, Tk, d], to be kept once."""
    for size in range(len(keys), 1, -1):
        if len(keys) % size == 0:
            groups = keys.reshape(-1, size, *keys.shape[1:])
            if (groups[:, :, :1] == groups[:, :1, :1]).all() and (groups == groups[:, :1]).all():
                return size
    return 1
