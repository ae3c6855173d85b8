"""Attention itself: the weights, as the softmax gives them."""

from __future__ import annotations

from .lens import BrowserLens

ATTENTION = BrowserLens(
    name="attention",
    label="Attention",
    description="The weights, which the softmax gives",
    one="weight",
    many="weights",
    why_not=lambda record, stack, layer: None,
    numbers=lambda record, stack, layer, head: record.layer(layer, stack).head_weights(head),
)
