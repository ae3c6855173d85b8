"""Encoding of examples: texts in which a number of a head is highest, usual, or lowest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from attnwidget.corpus import Example, HeadProfile

from .text import sendable

# A view shows the beginning of a text.
_MAX_LETTERS = 160

SentExample = tuple[int, int, float, int, int]
"""(place among the texts, rank from 0, number, query, key)."""


class SentExamples(TypedDict):
    """Examples of heads, as JSON.

    Attributes:
        texts: the beginning of each text.
        num_texts: the number of texts among which they are highest, usual or lowest.
        metrics: by metric, by stack, by layer, of every head: the example with the highest number,
            that next to the median, and that with the lowest; None if it is not among the texts.
    """

    texts: list[str]
    num_texts: int
    metrics: dict[str, dict[str, list[list[list[SentExample | None]]]]]


def encode_examples(profile: HeadProfile, texts: Sequence[int]) -> SentExamples:
    """Encode the examples of all heads among some texts.

    Args:
        texts: the indices of the texts.
    """
    places = {index: place for place, index in enumerate(texts)}

    def first_of(examples: Sequence[Example]) -> SentExample | None:
        for rank, example in enumerate(examples):
            if example.index in places:
                value = float(f"{example.value:.5g}")
                return places[example.index], rank, value, *example.pair
        return None

    def of_head(metric: str, stack: str, layer: int, head: int) -> list[SentExample | None]:
        found = profile.examples(metric, layer, head, stack)
        median = () if found.median is None else (found.median,)
        return [first_of(found.highest), first_of(median), first_of(found.lowest)]

    metrics = {
        metric: {
            name: [
                [of_head(metric, name, layer, head) for head in range(heads)]
                for layer, heads in zip(stack.numbers, stack.heads, strict=True)
            ]
            for name, stack in ((name, profile.stack(name)) for name in profile.stacks)
        }
        for metric in profile.metrics
    }
    return {
        "texts": [_beginning(profile.text(index)) for index in texts],
        "num_texts": profile.num_texts,
        # Examples of repeated tokens have none.
        "metrics": {
            metric: stacks
            for metric, stacks in metrics.items()
            if any(
                example is not None
                for layers in stacks.values()
                for heads in layers
                for examples in heads
                for example in examples
            )
        },
    }


def _beginning(text: str | tuple[str, ...]) -> str:
    joined = " ".join((text if isinstance(text, str) else " / ".join(text)).split())
    shown = joined if len(joined) <= _MAX_LETTERS else joined[: _MAX_LETTERS - 1] + "…"
    return sendable(shown)
