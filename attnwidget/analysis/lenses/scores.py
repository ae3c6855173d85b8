"""Scores, the numbers that go into the softmax."""

from __future__ import annotations

from attnwidget.record import Layer

from .attention import why_no_softmax
from .lens import BrowserLens, WhyNot


def why_no_scores(layer: Layer) -> WhyNot | None:
    """The reason why the scores of a layer are not known; None if they are."""
    if layer.signed:
        return why_no_softmax(layer, "scores are the numbers that go into one")
    if layer.program is not None:
        return None
    return WhyNot(
        "weights alone",
        "was recorded as weights alone: it has no scores. They follow from queries, keys and a "
        "score program, as capture(…) and from_arrays(…, queries=…, keys=…) record them",
    )


SCORES = BrowserLens(
    name="scores",
    label="Scores",
    description="The numbers that go into the softmax",
    one="score",
    many="scores",
    signed=True,
    digits=2,
    shares=False,
    # A word has no score.
    adds_up=False,
    why_not=lambda record, stack, layer: why_no_scores(record.layer(layer, stack)),
    numbers=lambda record, stack, layer, head: record.layer(layer, stack).head_scores(head),
)
