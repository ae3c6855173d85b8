"""Examination of one architecture: build it, capture it as loaded by default, compare."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import torch

from attnwidget import AttentionRecord
from benchmarks import zoo
from benchmarks.reference import Reference, has_sinks, references

from . import labels, outputs, watched
from .judge import NO_SOFTMAX, judge, one_line
from .match import Captured, Match, match
from .result import Category, Result
from .watched import capture_watched, run

# Larger differences between two passes of one model count as a change.
EAGER_APART = 1e-6


def examine(name: str) -> Result:
    """Examine an architecture; errors become results."""
    try:
        built = zoo.build(name)
    except zoo.CannotBuild as error:
        return Result(name, Category.NOT_BUILT, reason=one_line(error))
    said = Result(name, Category.MISS, type(built.model).__name__)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        said = _compare(built, said)
    # Capture's own warnings point to the caller.
    own = (one_line(w.message) for w in raised if w.filename == watched.__file__)
    said = replace(said, warnings=tuple(dict.fromkeys(own)))
    if said.category is Category.NO_ATTENTION:
        return said
    found, why = labels.compare(name)
    return replace(said, labels=found, labels_reason=why)


def _compare(built: zoo.Built, said: Result) -> Result:
    eager, returned, why_none = _references(said.name)
    try:
        record, disturbed = capture_watched(built)
    except Exception as error:
        trusted = sum(not reference.wrong for reference in returned)
        category = Category.MISS if trusted or not _has_none(error) else Category.NO_ATTENTION
        return replace(said, category=category, references=trusted, reason=one_line(error))
    said = _judged(said, built, record, returned)
    if said.category is Category.SILENT and eager is not None:
        said = _second_opinion(said, built, eager, returned)
    if said.category is Category.SILENT and eager is not None:
        said = _within_rounding(said, built, record, returned)
    if disturbed:
        said = replace(said, category=Category.SILENT, reason=disturbed)
    return replace(said, reason=said.reason or why_none)


def _has_none(error: Exception) -> bool:
    """True if capture reports that the model has no attention."""
    nothing, _, modules = str(error).partition("could be captured: ")
    return isinstance(error, ValueError) and (
        "has no attention" in nothing or all(NO_SOFTMAX in m for m in modules.split("; ") if m)
    )


def _judged(
    said: Result, built: zoo.Built, record: AttentionRecord, returned: list[Reference]
) -> Result:
    matches = match([r for r in returned if not r.wrong], Captured.all_of(record))
    category, reason = judge(record, matches, returned=bool(returned), sinks=has_sinks(built.model))
    return replace(
        said,
        category=category,
        stacks=tuple(f"{stack} ({len(record.stack(stack).layers)})" for stack in record.stacks),
        others=sum(NO_SOFTMAX in missing for missing in record.missing),
        routes=tuple(dict.fromkeys(f.route for layers in record.fidelity.values() for f in layers)),
        references=len(matches),
        matched=sum(m.exact for m in matches),
        error=_largest_error(record, matches),
        reason=reason,
        wrong=tuple(dict.fromkeys((r.field, r.wrong) for r in returned if r.wrong)),
    )


def _references(name: str) -> tuple[zoo.Built | None, list[Reference], str]:
    """The eager model, its attentions, and the reason if there are none."""
    try:
        eager = zoo.build(name, "eager")
        return eager, references(name, eager), ""
    except Exception as error:
        return None, [], f"no reference: {one_line(error)}"


def _second_opinion(
    first: Result, built: zoo.Built, eager: zoo.Built, returned: list[Reference]
) -> Result:
    """Capture the eager model if its attention differs from the default's.

    A few models lose a mask with one of the two, and in some others rounding grows from layer to
    layer: then a difference says nothing about capture.
    """
    apart = outputs.distance(run(built), run(eager))
    record, disturbed = capture_watched(eager)
    second = _judged(first, eager, record, returned)
    if disturbed or apart < EAGER_APART or second.category is Category.SILENT:
        return first
    note = f"captured with eager attention, whose outputs are {apart:.1e} off those of the default"
    return replace(second, reason="; ".join(filter(None, [second.reason, note])))


def _within_rounding(
    said: Result, built: zoo.Built, record: AttentionRecord, returned: list[Reference]
) -> Result:
    """Count a difference as none where the model's own float32 is farther from its float64."""
    exact = zoo.build(said.name, "eager")
    inputs = {
        name: value.double()
        if isinstance(value, torch.Tensor) and value.is_floating_point()
        else value
        for name, value in exact.inputs.items()
    }
    try:
        wide = references(said.name, zoo.Built(exact.model.double(), inputs))
    except Exception:  # it does not run in float64
        return said
    own = {(r.field, r.index): r.layouts[0] for r in wide}
    rounded, most = [], 0.0
    for each in returned:
        apart = np.abs(each.layouts[0] - own[each.field, each.index]).max()
        most = max(most, float(apart))
        rounded.append(replace(each, rounding=float(apart)))
    again = _judged(said, built, record, rounded)
    return replace(again, reason=again.reason or f"float32 is {most:.0e} off float64")


def _largest_error(record: AttentionRecord, matches: list[Match]) -> float | None:
    own = [
        error
        for layers in record.fidelity.values()
        for fidelity in layers
        for error in (fidelity.weights_error, fidelity.output_error)
        if error is not None
    ]
    return max([m.error for m in matches if m.exact] or own, default=None)
