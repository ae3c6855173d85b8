"""Joining of a generation's passes, each a few rows of a layer, into one layer.

These are attentions that a model computes without an attention function, whose softmaxes are
explained pass by pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Fidelity, Floats, Layer
from attnwidget.running.items import Padded, shared_heads

from .steps import LayerRows, Span
from .terms import terms


def joined_layer(
    passes: Sequence[LayerRows], spans: Sequence[Span], *, cross: bool, kept: Padded | None
) -> Layer:
    """Join the rows of successive forward passes.

    Args:
        passes: the rows of each pass.
        spans: its tokens.
        cross: True for cross-attention.
        kept: the positions to record, along both axes (of cross-attention, of the keys); None for
            all.

    Raises:
        ValueError: a token attends to a place that holds no token yet.
    """
    first, length = passes[0], spans[-1].end
    columns = spans[0].num_keys if cross else length
    # A matrix that all heads share is kept once.
    heads = max(len(rows.matrix) for rows in passes)
    hidden = np.float32(0 if first.program is None else -np.inf)
    whole = np.full((heads, length, columns), hidden)
    unused = np.zeros(length, bool)
    for span, rows in zip(spans, passes, strict=True):
        of_pass, width = slice(span.start, span.end), min(span.num_keys, columns - span.offset)
        whole[:, of_pass, span.offset : span.offset + width] = rows.matrix[:, :, :width]
        unused[of_pass] = (rows.matrix[:, :, span.unused] > hidden).any(axis=(0, 2))
    query_rows = _positions(None if cross else kept, length)
    key_rows = _positions(kept, columns)
    if unused[query_rows].any():
        raise ValueError("it attends to places of its static cache that hold no token yet")
    whole = whole[:, query_rows][:, :, key_rows]

    def joined(arrays: list[Floats | None], positions: NDArray[np.intp]) -> Floats | None:
        known = [array for array in arrays if array is not None]
        if len(known) < len(arrays):
            return None
        return np.ascontiguousarray(np.concatenate(known, axis=1)[:, positions])

    queries = joined([rows.queries for rows in passes], query_rows)
    keys = joined([rows.keys for rows in passes], key_rows)
    values = _once(joined([rows.values for rows in passes], key_rows))
    fidelity = _fidelity([rows.fidelity for rows in passes])
    if queries is None or keys is None or first.program is None:
        return Layer(None, None, None, whole, fidelity, values=values)
    seen = whole != -np.inf
    joined_terms = terms(seen, np.where(seen, whole, np.float32(0)), 1, whole.shape[1:])
    old = first.program
    program = joined_terms.program(old.scale, old.softcap, old.sinks)
    layer = Layer(queries, _once(keys), program, None, fidelity, values=values)
    return replace(layer, rotary=first.rotary)


def _positions(kept: Padded | None, length: int) -> NDArray[np.intp]:
    if kept is None or kept.length != length:
        return np.arange(length)
    positions: NDArray[np.intp] = kept.kept.numpy()
    return positions


def _once(array: Floats | None) -> Floats | None:
    """The array with one entry for heads that share their vectors."""
    return None if array is None else np.ascontiguousarray(array[:: shared_heads(array)])


def _fidelity(fidelities: Sequence[Fidelity]) -> Fidelity:
    """The largest errors of all passes."""

    def largest(errors: list[float | None]) -> float | None:
        known = [error for error in errors if error is not None]
        return max(known) if len(known) == len(errors) else None

    return replace(
        fidelities[0],
        weights_error=largest([f.weights_error for f in fidelities]),
        output_error=largest([f.output_error for f in fidelities]),
        rows=sum(f.rows for f in fidelities),
    )
