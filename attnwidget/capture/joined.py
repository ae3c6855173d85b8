"""Layers that a model computes in pieces, as one: heads in modules of their own, as in most
lectures, or one head or some queries after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from attnwidget.record import Fidelity, Floats, Layer
from attnwidget.tracing import joined_as, runs

from .recorder import RecordedCall


def with_joined_pieces(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """The calls of a pass, with one call for the pieces of a layer."""
    return [call for run in runs(calls) for call in _joined(run)]


def _joined(run: Sequence[RecordedCall]) -> Sequence[RecordedCall]:
    kind = joined_as([call.piece for call in run])
    if kind is None:
        return run
    address = run[0].address
    if kind == "modules":
        address = address._replace(module=address.module.rpartition(".")[0])
    layers = [call.layers[0] for call in run if call.layers]
    # A part of its pieces is no layer: the others were not asked for, or not understood.
    whole = len(layers) == len(run)
    join = _of_queries if kind == "queries" else _of_heads
    joined = (join(layers, address.module),) if whole else ()
    reason = next((call.reason for call in run if call.reason), "")
    return [replace(run[0], address=address, layers=joined, reason=reason)]


def _of_heads(heads: Sequence[Layer], module: str) -> Layer:
    """One layer of single heads; with a score program, if it is that of all of them."""
    first = heads[0]
    same = first.program is not None and all(_equal(first.program, h.program) for h in heads)
    return replace(
        first,
        queries=_of_all(heads, "queries"),
        keys=_of_all(heads, "keys"),
        values=_of_all(heads, "values"),
        program=first.program if same else None,
        weights=None if same else np.concatenate([_weights(head) for head in heads]),
        fidelity=_fidelity([head.fidelity for head in heads], module, whole=same),
        projection=None,
    )


def _of_queries(parts: Sequence[Layer], module: str) -> Layer:
    """One layer of parts with the same keys; with a score program, if it hides no key."""
    first = parts[0]
    same = first.program is not None and all(_equal(first.program, p.program) for p in parts)
    plain = same and first.program is not None and not first.program.adds
    return replace(
        first,
        queries=_of_all(parts, "queries", axis=1),
        program=first.program if plain else None,
        weights=None if plain else np.concatenate([_weights(part) for part in parts], axis=1),
        fidelity=_fidelity([part.fidelity for part in parts], module, whole=plain),
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
