"""Check that capture does not change a model's output."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import torch


def tensors(value: Any, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor inside a model's output, by its path. Caches are state, not output."""
    if isinstance(value, torch.Tensor):
        yield path, value.detach().clone()
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from tensors(inner, f"{path}.{name}")
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from tensors(inner, f"{path}[{index}]")
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from tensors(getattr(value, field.name), f"{path}.{field.name}")


def changed(before: Any, after: Any) -> str:
    """The first tensor that is not bitwise equal, with the difference; "" if all are."""
    expected, found = dict(tensors(before)), dict(tensors(after))
    # Capture may turn off a cache, but must keep all other outputs.
    if lost := sorted(name for name in expected.keys() - found.keys() if "past_key" not in name):
        return f"{lost[0]} is gone"
    for name, tensor in expected.items():
        other = found.get(name)
        if other is not None and not _identical(tensor, other):
            return f"{name} differs"
    return ""


def distance(a: Any, b: Any) -> float:
    """The largest difference of two outputs, relative to the largest value of each tensor."""
    others = dict(tensors(b))
    return max(
        (
            float((tensor - others[name]).abs().max() / tensor.abs().max().clamp_min(1e-30))
            for name, tensor in tensors(a)
            if name in others
            and tensor.is_floating_point()
            and tensor.numel()
            and tensor.shape == others[name].shape
        ),
        default=0.0,
    )


def _identical(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)) and torch.equal(
        a.isnan(), b.isnan()
    )
