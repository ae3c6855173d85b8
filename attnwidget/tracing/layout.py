"""The layout of a tensor: the dimensions of the batch, the heads and the tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

import torch

_HEAD_COUNTS = (
    "num_heads",
    "num_attention_heads",
    "n_heads",
    "n_head",
    "nhead",
    "heads",
    "num_attn_heads",
    "h",
)

# Code that puts the batch first where batch and heads share a dimension.
_BATCH_FIRST = ("transformers.", "torch.")


def heads_of(module: torch.nn.Module) -> int | None:
    """The number of heads in a module's attributes."""
    for name in _HEAD_COUNTS:
        count = getattr(module, name, None)
        if type(count) is int and count > 0:
            return count
    return None


@dataclass(frozen=True)
class Axes:
    """The roles of the dimensions of a module's scores [..., Tq, ..., Tk], read from its numbers.

    Attributes:
        order: the dimensions in the order of the batch, the heads, the queries, the keys.
        batch: how many of them are of the batch.
        folded: the order of batch and heads where they share the first dimension, or None.
        heads: the number of heads there.
    """

    order: tuple[int, ...]
    batch: int
    folded: Literal["batch first", "heads first"] | None = None
    heads: int = 0


# The axes of modules whose code does not say them, by the number of dimensions.
_read: WeakKeyDictionary[torch.nn.Module, dict[int, Axes]] = WeakKeyDictionary()

_unread = False


def learn(module: torch.nn.Module, axes: Axes) -> None:
    """Use these axes for the calls of a module from now on."""
    _read.setdefault(module, {})[len(axes.order)] = axes


@contextmanager
def dimensions_kept() -> Iterator[None]:
    """Leave all tensors as they are within this context, whose axes are to be read."""
    global _unread
    before, _unread = _unread, True
    try:
        yield
    finally:
        _unread = before


@dataclass(frozen=True)
class Layout:
    """The conversion from [..., T, n] to [M, heads, T, n], derived from queries or weights.

    Attributes:
        order: the dimensions in the order of the batch, the heads, the tokens and n.
        batch: how many of them are of the batch; None if batch and heads are folded into those
            before the tokens.
        leading: M.
        heads_first: True if heads come before the batch where they are folded.
    """

    order: tuple[int, ...]
    batch: int | None
    leading: int
    heads_first: bool = False

    @property
    def ndim(self) -> int:
        """The number of dimensions of the tensors."""
        return len(self.order)

    @classmethod
    def plain(cls, leading: int) -> Layout:
        """The layout of tensors that are [M, heads, T, n] already."""
        return cls((0, 1, 2, 3), 1, leading)

    @classmethod
    def of(cls, shape: torch.Size, module: torch.nn.Module, batch: int | None) -> Layout:
        """Derive the layout of scores, weights, queries or outputs.

        What was read from the module's numbers counts first. Else, four dimensions are
        [M, heads, T, n], unless only the third is as long as the module has heads. Of more
        dimensions, one with that length is that of the heads. With fewer, batch and heads share a
        dimension, or there is a single head.

        Args:
            batch: the number of items in a batch, or None if it is not known.

        Raises:
            ValueError: it is not known which head belongs to which item of the batch.
        """
        if (read := cls._as_read(shape, module)) is not None:
            return read
        heads, lead, last = heads_of(module), shape[:-2], (len(shape) - 2, len(shape) - 1)
        known = type(module).__module__.startswith(_BATCH_FIRST)
        # With the items first, and as many queries as keys last, what is left are the heads.
        left = heads is None and len(lead) == 2 and lead[0] == batch and shape[2] == shape[3]
        fits = (left or heads == shape[1]) and shape[1] not in (lead[0], shape[2])
        if len(lead) > 1 and not known and not fits:
            raise ValueError(
                f"it is not known which dimension of its scores {list(shape)} is that of the heads"
            )
        if len(lead) == 2:
            swapped = heads is not None and lead[1] != heads == shape[2]
            return cls((0, 2, 1, 3) if swapped else (0, 1, 2, 3), 1, lead[0])
        if len(lead) > 2:
            axis = next((n for n in (1, *range(len(lead))) if lead[n] == heads), 1)
            others = tuple(n for n in range(len(lead)) if n != axis)
            return cls((*others, axis, *last), len(others), lead.numel() // lead[axis])
        count, order = lead.numel(), tuple(range(len(shape)))
        if heads is None or count % heads:
            if batch is None:
                raise ValueError("the number of its heads is not known")
            heads = count // batch if count % batch == 0 else count
        several = count > heads if batch is None else batch > 1
        if several and heads > 1 and not type(module).__module__.startswith(_BATCH_FIRST):
            raise ValueError(
                "it folds the batch and its heads into one dimension, in an order that is not "
                "known; capture one text at a time"
            )
        return cls(order, None, count // heads)

    @classmethod
    def of_function(cls, shape: torch.Size, module: torch.nn.Module, batch: int | None) -> Layout:
        """The layout of queries of a function, [M, heads, T, d] if of four dimensions."""
        if len(shape) == 4:
            return cls._as_read(shape, module) or cls.plain(shape[0])
        return cls.of(shape, module, batch)

    @classmethod
    def _as_read(cls, shape: torch.Size, module: torch.nn.Module) -> Layout | None:
        """The layout by the axes that were read from the module's numbers, if any were."""
        if _unread:
            return _Kept(tuple(range(len(shape))), 1, shape[0])
        axes = _read.get(module, {}).get(len(shape))
        if axes is None:
            return None
        if axes.folded is None:
            lead = torch.Size(shape[n] for n in axes.order[: axes.batch])
            return cls(axes.order, axes.batch, lead.numel())
        if shape[0] % axes.heads:
            raise ValueError("the number of its heads is not known")
        return cls(axes.order, None, shape[0] // axes.heads, axes.folded == "heads first")

    def apply(self, tensor: torch.Tensor) -> torch.Tensor:
        """Convert a tensor to [M, heads or key heads, T, n].

        Raises:
            ValueError: the tensor has another layout.
        """
        if tensor.ndim != self.ndim:
            raise ValueError(f"{tensor.ndim} dimensions where {self.ndim} were expected")
        moved = tensor.permute(self.order)
        lead, size = moved.shape[:-2], moved.shape[-2:]
        if self.batch is not None:
            return moved.reshape(lead[: self.batch].numel(), lead[self.batch :].numel(), *size)
        if lead.numel() % self.leading:
            raise ValueError("batches of different sizes")
        if self.heads_first:
            return moved.reshape(-1, self.leading, *size).transpose(0, 1)
        return moved.reshape(self.leading, -1, *size)

    def restore(self, tensor: torch.Tensor, shape: torch.Size) -> torch.Tensor:
        """Invert `apply` for a tensor that had this shape before."""
        if self.heads_first:
            tensor = tensor.transpose(0, 1)
        moved = tensor.reshape([shape[n] for n in self.order])
        return moved.permute([self.order.index(n) for n in range(self.ndim)])


class _Kept(Layout):
    """The layout of a tensor whose axes are not known yet."""

    def apply(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor
