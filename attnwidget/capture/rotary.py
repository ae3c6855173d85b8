"""Detection of the pairs of components that a rotary embedding rotated in a call.

Queries and keys are compared with the outputs of the modules within their attention module:
projections, and norms after them. Pairs are reported only if a rotation of such an output gives
the queries and keys.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from attnwidget.record import Rotary
from attnwidget.tracing import Call, FunctionCall, is_attention

from .rotary_pairs import Doubles, agrees, turned_pairs

# A rotation changes all tokens, so a sample is enough.
_MAX_TOKENS = 16
# To confirm in one layer what was found in another, fewer are.
_FEW_TOKENS = 4


class Rotations:
    """Keeps the outputs of the modules within each attention module while that module runs."""

    def __init__(self) -> None:
        self._outputs: dict[int, list[torch.Tensor]] = {}
        # The layers of a model mostly rotate alike.
        self._latest: _Found | None = None

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        """Keep the output of a module that has run within `parent`."""
        self._outputs.pop(id(module), None)
        if parent is not None and is_attention(parent) and _is_floating(output):
            self._outputs.setdefault(id(parent), []).append(output)

    def rotary(self, call: Call) -> Rotary | None:
        """The pairs that a call's queries and keys agree on, or None."""
        if isinstance(call, FunctionCall) and call.query.shape[2] < 2:
            return None
        outputs = [tensor for within in self._outputs.values() for tensor in within]
        try:
            # Numbers that are not finite match no output.
            with np.errstate(all="ignore"):
                query, key = _vectors(call)
                if self._latest is None or not self._latest.holds(query, key, outputs):
                    self._latest = None
                    self._latest = _found(query, key, outputs)
                return None if self._latest is None else self._latest.rotary
        except Exception:  # of an unknown layout
            return None


@dataclass(frozen=True)
class _Found:
    """Pairs that queries and keys agree on.

    Attributes:
        rotary: the pairs.
        query, key: the indices of the outputs before the rotation; None for `key` if only a part of
            the keys was one output.
    """

    rotary: Rotary
    query: int
    key: int | None

    def holds(self, query: torch.Tensor, key: torch.Tensor, outputs: list[torch.Tensor]) -> bool:
        """True if a few vectors of another layer show the same rotation of the same outputs."""
        if self.key is None or max(self.query, self.key) >= len(outputs):
            return False
        if query.shape[0] != key.shape[0] or query.shape[2:] != key.shape[2:]:
            return False
        pairs = ((query, outputs[self.query]), (key, outputs[self.key]))
        try:
            read = [_first_reading(after, output) for after, output in pairs]
        except ValueError:
            return False
        eps = max(torch.finfo(tensor.dtype).eps for pair in pairs for tensor in pair)
        before, turned = (np.concatenate(each) for each in zip(*read, strict=True))
        # Keys that are not rotated would agree with any pairs.
        if any((old == new).all() for old, new in read):
            return False
        return agrees(self.rotary, before, turned, tokens=query.shape[2], eps=eps)


def _first_reading(after: torch.Tensor, output: torch.Tensor) -> tuple[Doubles, Doubles]:
    """Some vectors [n, d] of an output, as it is read first, and the vectors after a rotation."""
    leading, _, tokens, width = after.shape
    sample = _sample(leading * tokens, _FEW_TOKENS)
    turned = _at(after, sample)
    for unturned in _vectors_of(output, after.shape, sample):
        for heads in _assignments(unturned, turned):
            return unturned[:, heads].reshape(-1, width), turned.reshape(-1, width)
    raise ValueError("the output has no such vectors")


def _found(query: torch.Tensor, key: torch.Tensor, outputs: list[torch.Tensor]) -> _Found | None:
    """The pairs of the queries, if the keys have the same."""
    of_queries = _rotated_from(query, outputs)
    if of_queries is None:
        return None
    rotary, place = of_queries
    # The outputs for keys mostly follow those for queries, so these are tried first.
    later = outputs[place + 1 :] + outputs[: place + 1]
    of_keys = _rotated_from(key, later)
    if of_keys is None and rotary.start:
        # In latent attention, the rotated components of the keys have their own projection.
        of_keys = _rotated_from(key[..., rotary.start :], later)
        if of_keys is None or of_keys[0] != replace(rotary, start=0):
            return None
        return _Found(rotary, place, None)
    if of_keys is None or of_keys[0] != rotary:
        return None
    return _Found(rotary, place, (place + 1 + of_keys[1]) % len(outputs))


def _is_floating(output: Any) -> bool:
    return isinstance(output, torch.Tensor) and output.is_floating_point() and output.ndim > 1


def _vectors(call: Call) -> tuple[torch.Tensor, torch.Tensor]:
    """Queries and keys [M, heads or key heads, T, d]."""
    if isinstance(call, FunctionCall):
        return call.query, call.key
    if call.scores is None or not call.scores.intact:
        raise ValueError("the source of its scores is not known")
    scores = call.scores.oriented()
    return call.layout.apply(scores.query), call.layout.apply(scores.key)


def _rotated_from(after: torch.Tensor, outputs: list[torch.Tensor]) -> tuple[Rotary, int] | None:
    """The rotation of vectors [M, heads, T, d], and the index of the output before it."""
    leading, _, tokens, width = after.shape
    if tokens < 2:
        return None
    sample = _sample(leading * tokens, _MAX_TOKENS)
    turned = _at(after, sample)
    for place, output in enumerate(outputs):
        eps = max(torch.finfo(tensor.dtype).eps for tensor in (output, after))
        for unturned in _vectors_of(output, after.shape, sample):
            for heads in _assignments(unturned, turned):
                before = unturned[:, heads]
                if (before == turned).all():
                    return None  # not rotated
                flat = before.reshape(-1, width), turned.reshape(-1, width)
                if rotary := turned_pairs(*flat, tokens=tokens, eps=eps):
                    return rotary, place
    return None


@functools.lru_cache(maxsize=8)
def _sample(rows: int, count: int) -> np.ndarray:
    """At most `count` of the rows, evenly spread."""
    return np.linspace(0, rows - 1, min(rows, count)).astype(int)


def _at(vectors: torch.Tensor, sample: np.ndarray) -> Doubles:
    """Sampled rows of vectors [M, heads, T, d]: [sample, heads, d]."""
    leading, _, tokens, _ = vectors.shape
    if leading == 1:
        return _doubles(vectors[0].index_select(1, _index(sample, vectors)).transpose(0, 1))
    return _doubles(vectors[sample // tokens, :, sample % tokens])


def _index(sample: np.ndarray, tensor: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(sample).to(tensor.device)


def _vectors_of(output: torch.Tensor, shape: torch.Size, sample: np.ndarray) -> Iterator[Doubles]:
    """The possible readings of an output as vectors of the sampled tokens: [sample, n, d]."""
    leading, _, tokens, width = shape
    if output.ndim == 4 and (len(output), *output.shape[2:]) == (leading, tokens, width):
        yield _at(output, sample)
    rows = leading * tokens
    if output.numel() % rows == 0 and (count := output.numel() // rows // width) > 0:
        # Queries, keys and values may be in one output, or other numbers before the keys.
        picked = output.reshape(rows, -1).index_select(0, _index(sample, output))
        picked = picked[:, -count * width :]
        yield _doubles(picked).reshape(len(sample), count, width)


def _assignments(unturned: Doubles, turned: Doubles) -> Iterator[np.ndarray]:
    """The possible indices of each head's vector before the rotation: in order, or by norms."""
    heads, count = turned.shape[1], unturned.shape[1]
    shared = np.arange(heads) * count // heads
    if heads % count == 0:
        yield shared
    # A rotation keeps the norms, which therefore identify the heads.
    old, new = (np.linalg.norm(vectors, axis=2) for vectors in (unturned, turned))
    old, new = (norms / np.linalg.norm(norms, axis=0) for norms in (old, new))
    closest = (new.T @ old).argmax(axis=1)
    if heads % count or (closest != shared).any():
        yield closest


def _doubles(tensor: torch.Tensor) -> Doubles:
    array: Doubles = tensor.detach().cpu().double().numpy()
    return array
