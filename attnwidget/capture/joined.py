"""Layers whose heads are modules of their own, as in most lectures: the heads of one layer.

Modules of one list that were called one after the other with the same tensor read the same tokens
side by side; layers read what the one before has written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from attnwidget.record import Fidelity, Floats, Layer
from attnwidget.tracing import Address, beside

from .recorder import RecordedCall


def with_joined_heads(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """The calls of a pass, with one call for the heads of a layer."""
    return [_joined(run) for run in _runs(calls)]


def _runs(calls: Sequence[RecordedCall]) -> Iterator[list[RecordedCall]]:
    """Calls that are heads of one layer, and others by themselves."""
    run: list[RecordedCall] = []
    for call in calls:
        if run and not _goes_on(run[-1], call):
            yield run
            run = []
        run.append(call)
    if run:
        yield run


def _goes_on(last: RecordedCall, call: RecordedCall) -> bool:
    if not beside(last.address, last.argument, call.address, call.argument):
        return False
    layers = [each.layers[0] for each in (last, call) if each.layers]
    shapes = {
        tuple(getattr(array, "shape", None) for array in (each, each.queries, each.values))
        for each in layers
    }
    return len(shapes) <= 1 and all(each.num_heads == 1 for each in layers)


def _joined(run: Sequence[RecordedCall]) -> RecordedCall:
    if len(run) == 1:
        return run[0]
    module = run[0].address.module.rpartition(".")[0]
    address = Address(module, run[0].address.step, run[0].address.call)
    layers = [call.layers[0] for call in run if call.layers]
    # A part of its heads is no layer: the others were not asked for, or not understood.
    joined = (_layer(layers, module),) if len(layers) == len(run) else ()
    reason = next((call.reason for call in run if call.reason), "")
    return replace(run[0], address=address, layers=joined, reason=reason)


def _layer(heads: Sequence[Layer], module: str) -> Layer:
    """One layer of single heads; with a score program, if it is that of all of them."""
    first = heads[0]
    same = first.program is not None and all(_equal(first.program, h.program) for h in heads)

    def of_all(name: str) -> Floats | None:
        arrays = [getattr(head, name) for head in heads]
        return None if any(array is None for array in arrays) else np.concatenate(arrays)

    return replace(
        first,
        queries=of_all("queries"),
        keys=of_all("keys"),
        values=of_all("values"),
        program=first.program if same else None,
        weights=None if same else np.stack([head.head_weights(0) for head in heads]),
        fidelity=_fidelity([head.fidelity for head in heads], module, whole=same),
        projection=None,
    )


def _equal(one: Any, other: Any) -> bool:
    """True if two score programs have the same values."""
    return type(one) is type(other) and all(
        np.array_equal(getattr(one, f.name), getattr(other, f.name))
        if isinstance(getattr(one, f.name), np.ndarray)
        else getattr(one, f.name) == getattr(other, f.name)
        for f in fields(one)
    )


def _fidelity(heads: Sequence[Fidelity], module: str, *, whole: bool) -> Fidelity:
    """The largest errors of all heads."""

    def largest(name: str) -> float | None:
        errors = [getattr(head, name) for head in heads]
        return None if any(error is None for error in errors) else float(np.max(errors))

    return replace(
        heads[0],
        module=module,
        kept=heads[0].kept if whole else "weights",
        weights_error=largest("weights_error"),
        output_error=largest("output_error"),
        tolerance=max(head.tolerance for head in heads),
    )
