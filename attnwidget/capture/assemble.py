"""One layer out of the steps of a generation, each a few rows of attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnwidget.record import Fidelity, Floats, Layer
from attnwidget.record.scores import Bools

from .items import shared_heads
from .terms import terms


def assembled(pieces: Sequence[Layer], *, cross: bool, kept: np.ndarray | None) -> Layer:
    """One layer out of the attention of successive forward passes.

    Every pass attends from its new tokens. Its keys are those of all tokens so far, or of the
    latest where the cache is a sliding window, or of a whole buffer where the cache is static;
    of each token, the keys are taken from the pass that computed them. In cross-attention
    the keys are the same in every pass. A pass over all tokens so far replaces what was before.

    Args:
        pieces: the layer of each pass.
        cross: whether it is cross-attention.
        kept: the positions that are recorded, along both axes (of cross-attention, of the
            keys); None for all.

    Raises:
        ValueError: the passes do not fit each other.
    """
    if pieces[-1].shape[0] > 1:
        pieces = pieces[-1:]
    if any(piece.shape[0] > 1 for piece in pieces[1:]):
        raise ValueError("a pass of its generation reads several tokens at once")
    rows = _Rows(pieces[0])
    for piece in pieces:
        rows.add(piece, cross)
    return rows.layer(pieces, cross, kept)


class _Rows:
    """Arrays over all tokens so far, one entry per head."""

    def __init__(self, first: Layer) -> None:
        self.first = first
        self.queries: list[Floats] = []
        self.keys: list[Floats] = []
        self.values: list[Floats] = []
        self.matrix: list[tuple[int, Floats]] = []
        # For each row, whether it attends to places of a static cache that hold no token yet.
        self.astray: list[Bools] = []
        self.length = 0

    def add(self, piece: Layer, cross: bool) -> None:
        num_queries, num_keys = piece.shape
        end = self.length + num_queries
        # The position of the first key: of a sliding window, not 0.
        offset = 0 if cross else max(0, end - num_keys)
        new = slice(self.length - offset, end - offset)
        if not cross and new.start < 0:
            raise ValueError("its cache holds fewer tokens than a pass adds")
        if piece.queries is not None and piece.keys is not None:
            self.queries.append(piece.queries)
            if not cross or not self.keys:
                self.keys.append(_per_head(piece, piece.keys)[:, slice(None) if cross else new])
        if piece.values is not None and (not cross or not self.values):
            self.values.append(_per_head(piece, piece.values)[:, slice(None) if cross else new])
        as_weights = self.first.program is None
        matrix = _matrix(piece, as_weights)
        beyond = matrix[:, :, num_keys if cross else end - offset :]
        astray: Bools = np.any(beyond > (0 if as_weights else -np.inf), axis=(0, 2))
        self.astray.append(astray)
        self.matrix.append((offset, matrix))
        self.length = end

    def layer(self, pieces: Sequence[Layer], cross: bool, kept: np.ndarray | None) -> Layer:
        first, length = self.first, self.length
        columns = first.shape[1] if cross else length
        # Kept once if all heads share it.
        heads = max(len(rows) for _, rows in self.matrix)
        whole = np.zeros((heads, length, columns), np.float32)
        if first.program is not None:
            whole[:] = -np.inf
        start = 0
        for offset, rows in self.matrix:
            width = min(rows.shape[2], columns - offset)
            whole[:, start : start + rows.shape[1], offset : offset + width] = rows[:, :, :width]
            start += rows.shape[1]
        query_rows = np.arange(length) if cross or kept is None else kept[kept < length]
        if np.concatenate(self.astray)[query_rows].any():
            raise ValueError("it attends to places of its static cache that hold no token yet")
        key_rows = np.arange(columns) if kept is None else kept[kept < columns]
        whole = whole[:, query_rows][:, :, key_rows]

        def joined(parts: list[Floats], positions: np.ndarray) -> Floats | None:
            return np.concatenate(parts, axis=1)[:, positions] if parts else None

        queries, keys = joined(self.queries, query_rows), joined(self.keys, key_rows)
        values = joined(self.values, key_rows)
        fidelity = _fidelity(pieces)
        if queries is None or keys is None or first.program is None:
            layer = Layer(None, None, None, whole, fidelity, values=_once(values))
            return replace(layer, projection=first.projection)
        seen = whole != -np.inf
        found = terms(seen, np.where(seen, whole, np.float32(0)), 1, whole.shape[1:])
        old = first.program
        program = found.program(old.scale, old.softcap, old.sinks)
        layer = Layer(queries, _once(keys), program, None, fidelity, values=_once(values))
        return replace(layer, projection=first.projection, rotary=first.rotary)


def _per_head(piece: Layer, array: Floats) -> Floats:
    return np.repeat(array, piece.num_heads // len(array), axis=0)


def _once(array: Floats | None) -> Floats | None:
    """Heads that share their vectors, kept once."""
    return None if array is None else np.ascontiguousarray(array[:: shared_heads(array)])


def _matrix(piece: Layer, as_weights: bool) -> Floats:
    """[1 or heads, Tq, Tk]: what is added to the scores; or the weights."""
    if as_weights:
        return np.stack([piece.head_weights(head) for head in range(piece.num_heads)])
    if piece.program is None:
        raise ValueError("a score program explains some of its passes, but not all")
    program, rows = piece.program, np.arange(piece.shape[0])
    arrays = [a for a in (program.visible, program.bias, program.relative) if a is not None]
    heads = max((len(array) for array in arrays), default=1)
    return np.stack([program.added(head, rows, *piece.shape) for head in range(heads)])


def _fidelity(pieces: Sequence[Layer]) -> Fidelity:
    """The largest errors of all passes."""
    every = [piece.fidelity for piece in pieces]

    def largest(errors: list[float | None]) -> float | None:
        known = [error for error in errors if error is not None]
        return max(known) if len(known) == len(errors) else None

    return replace(
        every[0],
        weights_error=largest([f.weights_error for f in every]),
        output_error=largest([f.output_error for f in every]),
        rows=sum(f.rows for f in every),
    )
