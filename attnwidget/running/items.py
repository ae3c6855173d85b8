"""Selection of the recorded part of an attention call: one batch item, without padding."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch

from attnwidget.record import Floats
from attnwidget.tracing import CallId

from .model import has_places
from .padding import Padded
from .sides import Side
from .stacks import Kind, kind_of
from .towers import media_of

_MEDIA = ("vision", "audio", "qformer")


@dataclass(frozen=True)
class Batch:
    """The items that a model reads at once, and the one that is recorded.

    Attributes:
        size: the number of items.
        index: the recorded item.
        text, target: its tokens in the encoder (or the only model) and in the decoder, if any.
        cached: the text with the cached tokens before it, if the mask covers these.
        media: the number of images or sounds, or None.
        sound: the item's sound, if it is padded.
        others: the item's tokens in further inputs, by their names.
        dimensions: of the items in the inputs.
    """

    size: int
    index: int
    text: Padded | None
    target: Padded | None
    cached: Padded | None
    media: int | None
    sound: Padded | None = None
    others: Mapping[str, Padded] = field(default_factory=dict)
    dimensions: tuple[int, ...] = (0,)

    def of_input(self, name: str | None) -> Padded | None:
        """The item's tokens in the input of this name; of its sound, if it has no text."""
        if name in ("input_ids", "inputs_embeds"):
            return self.sound if self.text is None else self.text
        if media_of(name or "") == "audio":
            return self.sound
        return self.target if name == "decoder_input_ids" else self.others.get(name or "")


@dataclass(frozen=True)
class Selection:
    """The entries of a call's tensors that belong to one item.

    Attributes:
        windows: the entries of the leading dimension; each attends within itself.
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
        """Cut [M, heads, all T, n] to float32 [windows, heads, T, n] on the CPU."""
        windows = heads[self.windows].detach().to("cpu", torch.float32)
        return windows if len(positions) == windows.shape[-2] else windows[:, :, positions]


@dataclass(frozen=True)
class Item:
    """One item of a batch.

    Attributes:
        batch: the number of items.
        index: the number of this one.
        queries, keys: the sequence on either side of the attention, if it may be padded.
        apart: True if each item has queries or keys of its own.
    """

    batch: int
    index: int
    queries: Padded | None = None
    keys: Padded | None = None
    apart: bool = False

    def select(self, leading: int, shape: tuple[int, int]) -> Selection:
        """The entries of an attention call that belong to the item.

        Args:
            leading: the length of its leading dimension.
            shape: (Tq, Tk), with padding.
        """
        windows = self._windows(leading)
        queries, keys = (
            padded.kept
            if padded is not None and padded.length == length and windows.stop - windows.start == 1
            else _all(length)
            for length, padded in zip(shape, (self.queries, self.keys), strict=True)
        )
        return Selection(windows, queries, keys)

    def _windows(self, leading: int) -> slice:
        """The entries of a leading dimension that belong to the item.

        A model that attends within windows has several consecutive entries per item. If the leading
        dimension is unrelated to the batch (packed images, for instance), all are recorded.

        Raises:
            ValueError: items have no entries of their own, as they should.
        """
        if self.apart and leading < self.batch:
            raise ValueError(
                f"its scores are of {leading} of {self.batch} items: it reads items one after the "
                "other; capture one at a time"
            )
        if leading % self.batch:
            if self.batch % leading:
                return slice(0, leading)
            index = self.index * leading // self.batch  # several rows of inputs are one item
            return slice(index, index + 1)
        count = leading // self.batch
        return slice(self.index * count, (self.index + 1) * count)


@functools.lru_cache(maxsize=8)
def _all(length: int) -> torch.Tensor:
    """All positions."""
    with torch.inference_mode(False):  # a later pass may have gradients
        return torch.arange(length)


class Items:
    """The recorded item of each call, which depends on the call's kind.

    Args:
        model: the model.
        batch: all items.
    """

    def __init__(self, model: torch.nn.Module, batch: Batch) -> None:
        self._model = model
        self._batch = batch
        # True if the text has places for all of its images.
        self._places = has_places(model)
        # Calls of one kind get the same object, so that a mask that they share is read once.
        self._items: dict[Kind, Item] = {}

    def of(self, call: CallId) -> Item:
        """The recorded item of a call."""
        kind = kind_of(self._model, call)
        if kind not in self._items:
            self._items[kind] = self._item(kind)
        return self._items[kind]

    def _item(self, kind: Kind) -> Item:
        batch, (queries, keys, _) = self._batch, kind.sides
        size, index = batch.size, batch.index
        if kind.tower in _MEDIA and batch.media not in (None, size):
            if not (batch.media == 1 or (size == 1 and self._places)):
                raise ValueError(
                    f"it is not known which of {batch.media} images or sounds belong to which of "
                    f"{size} texts: pass as many of them, or a single one"
                )
            size, index = 1, 0
        apart = kind.read and (queries.own is not None or keys.own is not None)
        seen = self._of_side(keys)
        if batch.cached is not None and not kind.cross and seen is batch.text:
            seen = batch.cached
        return Item(size, index, self._of_side(queries), seen, apart)

    def _of_side(self, side: Side) -> Padded | None:
        """The sequence of a side."""
        padded = self._batch.of_input(side.own)
        return padded.after(side.offset) if padded is not None and side.offset else padded


def joined(windows: torch.Tensor) -> Floats:
    """[windows, heads, T, n] -> [heads, windows * T, n]; a copy, never the model's own memory."""
    array: Floats = np.array(windows.transpose(0, 1).flatten(1, 2).numpy(), order="C")
    return array


def shared_heads(keys: Floats) -> int:
    """The number of neighbouring heads that share the same keys [heads, Tk, d]."""
    for size in range(len(keys), 1, -1):
        if len(keys) % size == 0:
            groups = keys.reshape(-1, size, *keys.shape[1:])
            if (groups[:, :, :1] == groups[:, :1, :1]).all() and (groups == groups[:, :1]).all():
                return size
    return 1
