"""The layout of a tensor: the dimensions of the batch, the heads and the tokens."""

from __future__ import annotations

from dataclasses import dataclass

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
class Layout:
    """The conversion from [..., T, n] to [M, heads, T, n], derived from queries or weights.

    Attributes:
        ndim: the number of dimensions of the tensors.
        axis: the dimension of the heads, or None if they are folded into the first.
        leading: M.
    """

    ndim: int
    axis: int | None
    leading: int

    @classmethod
    def of(cls, shape: torch.Size, module: torch.nn.Module, batch: int | None) -> Layout:
        """Derive the layout of scores, weights, queries or outputs.

        Four dimensions are [M, heads, T, n], unless only the third is as long as the module has
        heads. Of more dimensions, one with that length is that of the heads. With fewer, batch and
        heads share a dimension, or there is a single head.

        Args:
            batch: the number of items in a batch, or None if it is not known.

        Raises:
            ValueError: it is not known which head belongs to which item of the batch.
        """
        heads, lead = heads_of(module), shape[:-2]
        if len(lead) == 2:
            swapped = heads is not None and lead[1] != heads == shape[2]
            return cls(4, 2 if swapped else 1, lead[0])
        if len(lead) > 2:
            axis = next((n for n in (1, *range(len(lead))) if lead[n] == heads), 1)
            return cls(len(shape), axis, lead.numel() // lead[axis])
        count = lead.numel()
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
        return cls(len(shape), None, count // heads)

    def apply(self, tensor: torch.Tensor) -> torch.Tensor:
        """Convert a tensor to [M, heads or key heads, T, n].

        Raises:
            ValueError: the tensor has another layout.
        """
        if tensor.ndim != self.ndim:
            raise ValueError(f"{tensor.ndim} dimensions where {self.ndim} were expected")
        if self.axis is None:
            if tensor.shape[:-2].numel() % self.leading:
                raise ValueError("batches of different sizes")
            return tensor.reshape(self.leading, -1, *tensor.shape[-2:])
        moved = tensor.movedim(self.axis, -3)
        return moved.reshape(-1, *moved.shape[-3:])

    def restore(self, tensor: torch.Tensor, shape: torch.Size) -> torch.Tensor:
        """Invert `apply` for a tensor that had this shape before."""
        if self.axis is None:
            return tensor.reshape(shape)
        moved = list(shape)
        moved.insert(self.ndim - 3, moved.pop(self.axis))
        return tensor.reshape(moved).movedim(-3, self.axis)
