"""Joining of a generation's steps, each a few rows of attention, into one layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnwidget.record import Fidelity, Floats, Layer
from attnwidget.record.scores import Bools

from .items import shared_heads
from .terms import added_terms, terms


def assembled(passes: Sequence[Layer], *, cross: bool, kept: np.ndarray | None) -> Layer:
    """Join the attention of successive forward passes into one layer.

    Every pass attends from its new tokens. Its keys are those of all tokens so far, or of the
    latest if the cache is a sliding window, or of a whole buffer if the cache is static. The keys
    of each token are taken from the pass that computed them. In cross-attention the keys are the
    same in every pass. A pass over all tokens so far replaces the passes before it.

    Args:
        passes: the layer of each pass.
        cross: True for cross-attention.
        kept: the positions to record, along both axes (of cross-attention, of the keys); None for
            all.

    Raises:
        ValueError: the passes do not fit each other.
    """
    if passes[-1].shape[0] > 1:
        passes = passes[-1:]
    if any(layer.shape[0] > 1 for layer in passes[1:]):
        raise ValueError("a pass of its generation reads several tokens at once")
    rows = _Rows(passes[0], cross)
    for layer in passes:
        rows.add(layer)
    return rows.layer(_fidelity(passes), kept)


class _Rows:
    """The arrays of all tokens so far, one entry per head."""

    def __init__(self, first: Layer, cross: bool) -> None:
        self.first = first
        self.cross = cross
        self.queries: list[Floats] = []
        self.keys: list[Floats] = []
        self.values: list[Floats] = []
        self.matrix: list[tuple[int, Floats]] = []
        # True for rows that attend to places of a static cache that hold no token yet.
        self.invalid: list[Bools] = []
        self.length = 0

    def add(self, layer: Layer) -> None:
        """Add the rows of a pass, and the keys and values of its new tokens."""
        num_queries, num_keys = layer.shape
        end = self.length + num_queries
        # The position of the first key, which is not 0 in a sliding window.
        offset = 0 if self.cross else max(0, end - num_keys)
        new = slice(None) if self.cross else slice(self.length - offset, end - offset)
        if not self.cross and self.length < offset:
            raise ValueError("its cache holds fewer tokens than a pass adds")
        if layer.queries is not None and layer.keys is not None:
            self.queries.append(layer.queries)
            if not self.cross or not self.keys:
                self.keys.append(_per_head(layer, layer.keys)[:, new])
        if layer.values is not None and (not self.cross or not self.values):
            self.values.append(_per_head(layer, layer.values)[:, new])
        as_weights = self.first.program is None
        matrix = _matrix(layer, as_weights)
        beyond = matrix[:, :, num_keys if self.cross else end - offset :]
        invalid: Bools = np.any(beyond > (0 if as_weights else -np.inf), axis=(0, 2))
        self.invalid.append(invalid)
        self.matrix.append((offset, matrix))
        self.length = end

    def layer(self, fidelity: Fidelity, kept: np.ndarray | None) -> Layer:
        """The layer of all passes."""
        first, length = self.first, self.length
        columns = first.shape[1] if self.cross else length
        # A matrix that all heads share is kept once.
        heads = max(len(rows) for _, rows in self.matrix)
        whole = np.zeros((heads, length, columns), np.float32)
        if first.program is not None:
            whole[:] = -np.inf
        start = 0
        for offset, rows in self.matrix:
            width = min(rows.shape[2], columns - offset)
            whole[:, start : start + rows.shape[1], offset : offset + width] = rows[:, :, :width]
            start += rows.shape[1]
        query_rows = np.arange(length) if self.cross or kept is None else kept[kept < length]
        if np.concatenate(self.invalid)[query_rows].any():
            raise ValueError("it attends to places of its static cache that hold no token yet")
        key_rows = np.arange(columns) if kept is None else kept[kept < columns]
        whole = whole[:, query_rows][:, :, key_rows]

        def joined(arrays: list[Floats], positions: np.ndarray) -> Floats | None:
            return np.concatenate(arrays, axis=1)[:, positions] if arrays else None

        queries, keys = joined(self.queries, query_rows), joined(self.keys, key_rows)
        values = joined(self.values, key_rows)
        if queries is None or keys is None or first.program is None:
            layer = Layer(None, None, None, whole, fidelity, values=_once(values))
            return replace(layer, projection=first.projection)
        seen = whole != -np.inf
        joined_terms = terms(seen, np.where(seen, whole, np.float32(0)), 1, whole.shape[1:])
        old = first.program
        program = joined_terms.program(old.scale, old.softcap, old.sinks)
        layer = Layer(queries, _once(keys), program, None, fidelity, values=_once(values))
        return replace(layer, projection=first.projection, rotary=first.rotary)


def _per_head(layer: Layer, array: Floats) -> Floats:
    return np.repeat(array, layer.num_heads // len(array), axis=0)


def _once(array: Floats | None) -> Floats | None:
    """The array with one entry for heads that share their vectors."""
    return None if array is None else np.ascontiguousarray(array[:: shared_heads(array)])


def _matrix(layer: Layer, as_weights: bool) -> Floats:
    """The weights, or the terms added to the scores: [1 or heads, Tq, Tk]."""
    if as_weights:
        return np.stack([layer.head_weights(head) for head in range(layer.num_heads)])
    if layer.program is None:
        raise ValueError("a score program explains some of its passes, but not all")
    return added_terms(layer.program, np.arange(layer.shape[0]), layer.shape)


def _fidelity(passes: Sequence[Layer]) -> Fidelity:
    """The largest errors of all passes."""
    fidelities = [layer.fidelity for layer in passes]

    def largest(errors: list[float | None]) -> float | None:
        known = [error for error in errors if error is not None]
        return max(known) if len(known) == len(errors) else None

    return replace(
        fidelities[0],
        weights_error=largest([f.weights_error for f in fidelities]),
        output_error=largest([f.output_error for f in fidelities]),
        rows=sum(f.rows for f in fidelities),
    )
