"""Layers that a model computes in pieces, as one: heads in modules of their own, as in most
lectures, or one head or some queries after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from attnwidget.record import Fidelity, Floats, Layer, ScoreProgram
from attnwidget.tracing import joined_as, runs

from .recorder import RecordedCall

IN_PARTS = "it computes attention in parts, such as blocks of keys, that are not put together here"


def with_joined_pieces(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """The calls of a pass, with one call for the pieces of a layer."""
    return [call for run in runs(calls) for call in _joined(run)]


def _joined(run: Sequence[RecordedCall]) -> Sequence[RecordedCall]:
    as_one = joined_as([call.piece for call in run])
    if as_one is None:
        return run
    address = run[0].address._replace(module=as_one.module)
    layers = [call.layer for call in run if call.layer is not None]
    reason = next((call.reason for call in run if call.reason), "")
    if as_one.kind == "parts" and layers:
        return [replace(run[0], layer=None, reason=reason or IN_PARTS)]
    # A part of its pieces is no layer: the others were not asked for, or not understood.
    complete = len(layers) == len(run)
    joined = _whole(layers, as_one.module, as_one.kind) if complete else None
    return [replace(run[0], address=address, layer=joined, reason=reason)]


def joined_weights(pieces: Sequence[Floats], kind: str) -> Floats:
    """The weights [heads, Tq, Tk] of a layer of pieces, of which later ones may have more keys."""
    keys = max(piece.shape[2] for piece in pieces)
    whole = [np.pad(piece, ((0, 0), (0, 0), (0, keys - piece.shape[2]))) for piece in pieces]
    return np.concatenate(whole, axis=1 if kind == "queries" else 0)


def _whole(pieces: Sequence[Layer], module: str, kind: str) -> Layer:
    """One layer of single heads, or of parts of the queries, which have the same keys.

    It keeps its score program if that is the same for all pieces, and for the whole.
    """
    first, last = pieces[0], pieces[-1]
    of_queries = kind == "queries"
    kept = first.program is not None and all(_equal(first.program, p.program) for p in pieces)
    if kept and of_queries:
        # A mask or bias of some queries is not that of all.
        alike = all(piece.shape[1] == last.shape[1] for piece in pieces)
        kept = alike and isinstance(first.program, ScoreProgram) and not first.program.adds
    return replace(
        first,
        queries=_of_all(pieces, "queries", axis=1 if of_queries else 0),
        keys=last.keys if of_queries else _of_all(pieces, "keys"),
        values=last.values if of_queries else _of_all(pieces, "values"),
        program=first.program if kept else None,
        weights=None if kept else joined_weights([_weights(piece) for piece in pieces], kind),
        fidelity=_fidelity([piece.fidelity for piece in pieces], module, whole=kept),
        projection=None,
    )


def _of_all(pieces: Sequence[Layer], name: str, axis: int = 0) -> Floats | None:
    arrays = [getattr(piece, name) for piece in pieces]
    return None if any(array is None for array in arrays) else np.concatenate(arrays, axis)


def _weights(piece: Layer) -> Floats:
    """All weights of a piece, [heads, Tq, Tk]."""
    return piece.all_weights(np.arange(piece.shape[0]))


def _equal(one: Any, other: Any) -> bool:
    """True if two score programs have the same values."""
    return type(one) is type(other) and all(
        np.array_equal(getattr(one, f.name), getattr(other, f.name))
        if isinstance(getattr(one, f.name), np.ndarray)
        else getattr(one, f.name) == getattr(other, f.name)
        for f in fields(one)
    )


def _fidelity(pieces: Sequence[Fidelity], module: str, *, whole: bool) -> Fidelity:
    """The largest errors of all pieces."""

    def largest(name: str) -> float | None:
        errors = [getattr(piece, name) for piece in pieces]
        return None if any(error is None for error in errors) else float(np.max(errors))

    return replace(
        pieces[0],
        module=module,
        kept=pieces[0].kept if whole else "weights",
        weights_error=largest("weights_error"),
        output_error=largest("output_error"),
        tolerance=max(piece.tolerance for piece in pieces),
        rows=max(piece.rows for piece in pieces),
    )
