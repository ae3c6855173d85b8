"""The components of queries and keys that a rotary embedding turned together, by the numbers.

Queries and keys are compared with what the modules within their attention module returned:
projections, and norms after them. What is none of these but for a turn is not known to be turned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attnwidget.record import Rotary
from attnwidget.tracing import Call, FunctionCall, is_attention

from .pairs import Doubles, turned_pairs

# A turn touches all tokens, so some are enough.
_TOKENS = 16


class Rotations:
    """Keeps what the modules within each attention module returned, as long as that runs."""

    def __init__(self) -> None:
        self._outputs: dict[int, list[torch.Tensor]] = {}

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        """A module, called within `parent`, has run."""
        self._outputs.pop(id(module), None)
        if parent is not None and is_attention(parent) and _is_floating(output):
            self._outputs.setdefault(id(parent), []).append(output)

    def rotary(self, call: Call) -> Rotary | None:
        """The pairs of a call's queries and keys, if both confirm them."""
        outputs = [tensor for within in self._outputs.values() for tensor in within]
        try:
            # Numbers that are not finite agree with nothing.
            with np.errstate(all="ignore"):
                return _confirmed(*_vectors(call), outputs)
        except Exception:  # laid out in a way of its own
            return None


def _confirmed(
    query: torch.Tensor, key: torch.Tensor, outputs: list[torch.Tensor]
) -> Rotary | None:
    found = _turned(query, outputs)
    if found is None:
        return None
    rotary, place = found
    # Keys are mostly made of what comes after that which queries are made of.
    outputs = outputs[place + 1 :] + outputs[: place + 1]
    own = _turned(key, outputs)
    if own is None and rotary.start:
        # In latent attention, what is turned of the keys is projected by itself.
        own = _turned(key[..., rotary.start :], outputs)
        rotary = replace(rotary, start=0)
    return found[0] if own is not None and own[0] == rotary else None


def _is_floating(output: Any) -> bool:
    return isinstance(output, torch.Tensor) and output.is_floating_point() and output.ndim > 1


def _vectors(call: Call) -> tuple[torch.Tensor, torch.Tensor]:
    """Queries and keys [M, heads or key heads, T, d]."""
    if isinstance(call, FunctionCall):
        return call.query, call.key
    if call.scores is None or not call.scores.intact:
        raise ValueError("where its scores come from is not known")
    scores = call.scores.oriented()
    return call.layout.apply(scores.query), call.layout.apply(scores.key)


def _turned(after: torch.Tensor, outputs: list[torch.Tensor]) -> tuple[Rotary, int] | None:
    """The turn of vectors [M, heads, T, d], and the output that they were before it."""
    leading, _, tokens, width = after.shape
    if tokens < 2:
        return None
    sample = np.linspace(0, leading * tokens - 1, min(leading * tokens, _TOKENS)).astype(int)
    turned = _doubles(after[sample // tokens, :, sample % tokens])
    for place, output in enumerate(outputs):
        eps = max(torch.finfo(tensor.dtype).eps for tensor in (output, after))
        for unturned in _readings(output, after.shape, sample):
            for heads in _assigned(unturned, turned):
                before = unturned[:, heads]
                if (before == turned).all():
                    return None  # nothing came after
                flat = before.reshape(-1, width), turned.reshape(-1, width)
                if found := turned_pairs(*flat, tokens=tokens, eps=eps):
                    return found, place
    return None


def _readings(output: torch.Tensor, shape: torch.Size, sample: np.ndarray) -> Iterator[Doubles]:
    """[sample, n, d]: an output as vectors of some tokens, where it may be that."""
    leading, _, tokens, width = shape
    if output.ndim == 4 and (len(output), *output.shape[2:]) == (leading, tokens, width):
        yield _doubles(output[sample // tokens, :, sample % tokens])
    rows = leading * tokens
    if output.numel() % rows == 0 and (count := output.numel() // rows // width) > 0:
        # Queries, keys and values may be in one, or something else before the keys.
        picked = output.reshape(rows, -1)[sample][:, -count * width :]
        yield _doubles(picked).reshape(len(sample), count, width)


def _assigned(unturned: Doubles, turned: Doubles) -> Iterator[np.ndarray]:
    """The vector, of n before, that may be the one of each head: in order, or by their norms."""
    heads, count = turned.shape[1], unturned.shape[1]
    shared = np.arange(heads) * count // heads
    if heads % count == 0:
        yield shared
    # A turn keeps them in every token, so they tell heads apart.
    old, new = (np.linalg.norm(vectors, axis=2) for vectors in (unturned, turned))
    old, new = (norms / np.linalg.norm(norms, axis=0) for norms in (old, new))
    closest = (new.T @ old).argmax(axis=1)
    if heads % count or (closest != shared).any():
        yield closest


def _doubles(tensor: torch.Tensor) -> Doubles:
    array: Doubles = tensor.detach().cpu().double().numpy()
    return array
