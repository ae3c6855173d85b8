"""Scores, the numbers that go into the softmax, as a lens."""

from __future__ import annotations

from attnwidget.record import Layer


def score_refusal(layer: Layer) -> str | None:
    """The reason why the scores of a layer are not known, in one sentence; else None."""
    if layer.program is not None:
        return None
    return (
        f"layer {layer.number} was recorded as weights alone: it has no scores. They follow from "
        "queries, keys and a score program, as capture(…) and from_arrays(…, queries=…, keys=…) "
        "record them"
    )
