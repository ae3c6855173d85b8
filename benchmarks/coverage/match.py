"""Matching of captured layers to the model's own attention tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnwidget import AttentionRecord
from benchmarks.reference import Reference

from .result import EXACT


@dataclass(frozen=True)
class Captured:
    """One layer of a record with a softmax, with its weights [heads, Tq, Tk]."""

    name: str
    weights: np.ndarray
    exact: bool | None
    route: str = ""

    @classmethod
    def all_of(cls, record: AttentionRecord) -> list[Captured]:
        return [
            cls(
                f"{stack} {layer.number}",
                np.stack([layer.head_weights(head) for head in range(layer.num_heads)]),
                layer.fidelity.exact,
                layer.fidelity.route,
            )
            for stack in record.stacks
            for layer in record.stack(stack).layers
            if not layer.signed
        ]


@dataclass(frozen=True)
class Match:
    """A reference, the layer nearest to it, and their largest difference."""

    reference: Reference
    captured: Captured | None
    error: float

    @property
    def exact(self) -> bool:
        return self.error <= max(EXACT, self.reference.rounding)


def match(references: Sequence[Reference], captured: Sequence[Captured]) -> list[Match]:
    """Match each reference to a layer; the first of equally good ones."""
    left = list(captured)
    matches: dict[int, Match] = {}
    # References that fit are matched first, so that others do not take their layers.
    for tolerance in (EXACT, np.inf):
        for index, reference in enumerate(references):
            if index in matches:
                continue
            errors = [
                min(difference(blocks, layer.weights) for blocks in reference.layouts)
                for layer in left
            ]
            best = min(range(len(left)), key=errors.__getitem__, default=None)
            if best is not None and errors[best] <= tolerance and errors[best] < np.inf:
                matches[index] = Match(reference, left.pop(best), errors[best])
    return [
        matches.get(index, Match(reference, None, np.inf))
        for index, reference in enumerate(references)
    ]


def difference(blocks: np.ndarray, weights: np.ndarray) -> float:
    """max |reference - captured|; infinite if their shapes differ.

    Blocks [blocks, heads, q, k] lie on the diagonal of the captured [heads, blocks q, blocks k],
    which is zero elsewhere.
    """
    count, heads, rows, columns = blocks.shape
    if weights.shape != (heads, count * rows, count * columns):
        return np.inf
    # [blocks, blocks, heads, q, k]
    split = weights.reshape(heads, count, rows, count, columns).transpose(1, 3, 0, 2, 4)
    expected = np.zeros_like(split)
    expected[np.arange(count), np.arange(count)] = blocks
    return float(np.abs(split - expected).max())
