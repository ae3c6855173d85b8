"""The tokens of a batch's items, without their padding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from attnwidget.record.scores import MASKED

from .towers import is_read, stem


@dataclass(frozen=True)
class Padded:
    """A sequence in the model's inputs.

    Attributes:
        length: its length with padding.
        kept: the positions that are not padding.
    """

    length: int
    kept: torch.Tensor

    def after(self, count: int) -> Padded:
        """The sequence after so many further positions, which are all kept."""
        return Padded(count + self.length, torch.cat([torch.arange(count), count + self.kept]))


def rows_of(tensor: torch.Tensor, items: tuple[int, ...]) -> torch.Tensor:
    """An input as [items, tokens, ...], by the dimensions of its items."""
    if items == (0,):
        return tensor
    rest = [n for n in range(tensor.ndim) if n not in items]
    moved = tensor.permute(*items, *rest)
    return moved.reshape(-1, *moved.shape[len(items) :])


def kept_positions(
    tensors: Mapping[str, Any], name: str, index: int, items: tuple[int, ...] = (0,)
) -> Padded | None:
    """The item's positions in the input of this name that its mask does not hide."""
    tensor = tensors.get(name)
    if not isinstance(tensor, torch.Tensor):
        return None
    rows = rows_of(tensor, items)
    length = rows.shape[1]
    for seen in _masks_of(tensors, name, rows.shape[:2], items):
        return Padded(length, seen[index].nonzero()[:, 0].cpu())
    return Padded(length, torch.arange(length))


def _masks_of(
    tensors: Mapping[str, Any], name: str, shape: torch.Size, items: tuple[int, ...]
) -> Iterator[torch.Tensor]:
    """The masks of an input as [items, tokens], true for tokens that are no padding.

    A mask whose name says nothing is of the only input that is so long.
    """
    masks = {mask: _by_item(mask, value, shape, items) for mask, value in tensors.items()}
    known = {mask: seen for mask, seen in masks.items() if seen is not None}
    yield from (seen for mask, seen in known.items() if stem(mask) == stem(name))
    size = tensors[name].shape[:2]
    alike = [n for n, each in tensors.items() if is_read(n, each) and each.shape[:2] == size]
    if len(alike) == 1:
        yield from (seen for mask, seen in known.items() if not stem(mask))


def _by_item(
    name: str, value: Any, shape: torch.Size, items: tuple[int, ...]
) -> torch.Tensor | None:
    """A mask as [items, tokens], true for tokens; None for what may be no mask of padding."""
    if "mask" not in name or not isinstance(value, torch.Tensor) or value.numel() != shape.numel():
        return None
    if "pad" in name:  # torch's own are true for padding; others say it in both ways
        if value.dtype != torch.bool:
            return None
        value = ~value
    elif bool((value < 0).any()):  # numbers to add to scores
        value = value > MASKED
    if items == (1,):  # torch's own have the items first nevertheless
        forms = [form for form in (value, value.mT) if form.shape == shape]
        return forms[0] if len(forms) == 1 else None
    if value.shape[0] != shape[0] and len(items) == 1:
        return None
    return None if is_square(value) and "attention_mask" not in name else value.reshape(shape)


def is_square(mask: Any) -> bool:
    """True for a mask by which each of some tokens sees itself, and not all see each other."""
    if not isinstance(mask, torch.Tensor) or mask.ndim != 2 or mask.shape[0] != mask.shape[1]:
        return False
    return bool(mask.bool().diagonal().all()) and not bool(mask.bool().all())
