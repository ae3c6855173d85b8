"""Detection of the pairs of components that a rotary embedding rotated in a call.

Queries and keys are compared with the outputs of the modules within their attention module:
projections, and norms after them. Pairs are reported only if a rotation of such an output gives
the queries and keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attnwidget.record import Rotary
from attnwidget.tracing import Call, FunctionCall, is_attention

from .rotary_pairs import Doubles, turned_pairs

# A rotation changes all tokens, so a sample is enough.
_MAX_TOKENS = 16


class Rotations:
    """Keeps the outputs of the modules within each attention module while that module runs."""

    def __init__(self) -> None:
        self._outputs: dict[int, list[torch.Tensor]] = {}

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        """Keep the output of a module that has run within `parent`."""
        self._outputs.pop(id(module), None)
        if parent is not None and is_attention(parent) and _is_floating(output):
            self._outputs.setdefault(id(parent), []).append(output)

    def rotary(self, call: Call) -> Rotary | None:
        """The pairs that a call's queries and keys agree on, or None."""
        outputs = [tensor for within in self._outputs.values() for tensor in within]
        try:
            # Numbers that are not finite match no output.
            with np.errstate(all="ignore"):
                return _confirmed(*_vectors(call), outputs)
        except Exception:  # of an unknown layout
            return None


def _confirmed(
    query: torch.Tensor, key: torch.Tensor, outputs: list[torch.Tensor]
) -> Rotary | None:
    """The pairs of the queries, if the keys have the same."""
    of_queries = _rotated_from(query, outputs)
    if of_queries is None:
        return None
    rotary, place = of_queries
    # The outputs for keys mostly follow those for queries, so these are tried first.
    outputs = outputs[place + 1 :] + outputs[: place + 1]
    of_keys = _rotated_from(key, outputs)
    if of_keys is None and rotary.start:
        # In latent attention, the rotated components of the keys have their own projection.
        of_keys = _rotated_from(key[..., rotary.start :], outputs)
        rotary = replace(rotary, start=0)
    return of_queries[0] if of_keys is not None and of_keys[0] == rotary else None


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
    sample = np.linspace(0, leading * tokens - 1, min(leading * tokens, _MAX_TOKENS)).astype(int)
    turned = _doubles(after[sample // tokens, :, sample % tokens])
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


def _vectors_of(output: torch.Tensor, shape: torch.Size, sample: np.ndarray) -> Iterator[Doubles]:
    """The possible readings of an output as vectors of the sampled tokens: [sample, n, d]."""
    leading, _, tokens, width = shape
    if output.ndim == 4 and (len(output), *output.shape[2:]) == (leading, tokens, width):
        yield _doubles(output[sample // tokens, :, sample % tokens])
    rows = leading * tokens
    if output.numel() % rows == 0 and (count := output.numel() // rows // width) > 0:
        # Queries, keys and values may be in one output, or other numbers before the keys.
        picked = output.reshape(rows, -1)[sample][:, -count * width :]
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
