"""Attention itself: the weights, as the softmax gives them; without one, the coefficients."""

from __future__ import annotations

from dataclasses import replace

from attnwidget.record import Layer, Stack

from .lens import BrowserLens, Lens, WhyNot

ATTENTION = BrowserLens(
    name="attention",
    label="Attention",
    description="The weights, which the softmax gives",
    one="weight",
    many="weights",
    why_not=lambda record, stack, layer: None,
    numbers=lambda record, stack, layer, head: record.layer(layer, stack).head_weights(head),
)

COEFFICIENTS = replace(
    ATTENTION,
    label="Coefficients",
    description="How much of each value the head takes, of either sign",
    one="coefficient",
    many="coefficients",
    signed=True,
    shares=False,
    numbers=lambda record, stack, layer, head: record.layer(layer, stack).head_coefficients(head),
)
"""The reading of `ATTENTION`, and of its name, for layers without a softmax."""

CONTRIBUTIONS = replace(
    COEFFICIENTS,
    label="Contributions",
    description="The share of each key along the layer's output, of either sign: c · y / ‖y‖²",
    one="contribution",
    many="contributions",
)
"""The same for layers whose channels mix tokens each by itself."""

MAGNITUDES = replace(
    COEFFICIENTS,
    label="Share of magnitudes",
    description="The magnitudes of coefficients as shares of their row",
    one="share of magnitudes",
    many="shares of magnitudes",
    signed=False,
    shares=True,
    numbers=lambda record, stack, layer, head: record.layer(layer, stack).head_shares(head),
)
"""The stand-in for coefficients where weights of several heads are added up."""


def reading(lens: Lens, stack: Stack) -> Lens:
    """A lens with the numbers and words that it has for a stack: coefficients for attention."""
    if lens is not ATTENTION or not stack.signed:
        return lens
    return CONTRIBUTIONS if stack.of_channels else COEFFICIENTS


def why_no_softmax(layer: Layer, what: str) -> WhyNot | None:
    """The reason why a layer lacks what follows from weights; None if it has a softmax.

    Args:
        what: the rest of the sentence, with what to do.
    """
    if not layer.signed:
        return None
    return WhyNot(
        "no softmax", f"has no softmax, but signed coefficients in place of weights: {what}"
    )
