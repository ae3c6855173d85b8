"""Effects of chosen heads, measured beforehand for a page, which cannot run the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, SupportsIndex, TypedDict

from attnwidget.interventions import Rerun
from attnwidget.record import AttentionRecord

from .effects import encode_effect
from .requests import effect_request

OffSet = tuple[SupportsIndex, SupportsIndex] | Iterable[tuple[SupportsIndex, SupportsIndex]]
"""A head as (layer, head), or several that are off together."""


class SavedEffect(TypedDict):
    """Effects of switched-off heads on the output as a whole, and at a locked query."""

    stack: str
    heads: list[list[int]]
    replies: list[dict[str, Any]]


def encode_effects(
    record: AttentionRecord,
    rerun: Rerun | None,
    stack: str,
    sets: Iterable[OffSet],
    query: int | None,
) -> list[SavedEffect]:
    """Measure the effect of each set of heads.

    Args:
        rerun: the model that `record` is of; None if it is not known.
        stack: the name of the heads' stack.
        query: the locked query, or None.

    Raises:
        TypeError: a set is none.
        ValueError: there is no such head, no model, or the text was generated.
        ReferenceError: the model was deleted.
    """
    if rerun is not None:
        # This cell may have changed the model in a way that a kept pass does not notice.
        rerun.forget()
    found: list[SavedEffect] = []
    for heads in map(_heads, sets):
        asked = {"op": "effect", "stack": stack, "heads": heads, "query": query}
        request = effect_request(record, asked)
        if rerun is None:
            raise ValueError(
                "effects are measured by the model, which this view does not have: make it by "
                "show(model, tokenizer, text), and save it while the model is there"
            )
        effect, predicts = rerun.effect(stack, request.heads)
        replies = [
            {"query": at, "effect": encode_effect(effect, predicts, replace(request, query=at))}
            for at in dict.fromkeys((None, query))
        ]
        found.append({"stack": stack, "heads": heads, "replies": replies})
    return found


def _heads(given: OffSet) -> list[list[int]]:
    """The heads of a set, in order."""
    try:
        pairs: Sequence[Any] = list(given)
        if pairs and not isinstance(pairs[0], Iterable):
            pairs = [pairs]
        return sorted(
            {(int(layer), int(head)): [int(layer), int(head)] for layer, head in pairs}.values()
        )
    except (TypeError, ValueError):
        raise TypeError(
            f"effects has {given!r:.100}; expected (layer, head), or several that are off together"
        ) from None
