"""Effects of chosen heads and links, measured beforehand for a page, which cannot run the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsIndex, TypedDict

from attnwidget.arguments import whole_number
from attnwidget.interventions.edits import KnockOut
from attnwidget.interventions.off import Link, Off
from attnwidget.record import AttentionRecord

from .effects import encode_effect
from .requests import effect_request

if TYPE_CHECKING:
    from attnwidget.interventions.rerun import Rerun

_Part = tuple[SupportsIndex, SupportsIndex] | KnockOut
OffSet = _Part | Iterable[_Part]
"""A head as (layer, head), or cut links, or several that are off together."""


SentLink = list[list[int] | None]
"""Queries, keys, layers and heads; None for all."""


class SavedEffect(TypedDict):
    """Effects of what is off on the output as a whole, and at a locked query."""

    stack: str
    heads: list[list[int]]
    cut: list[SentLink]
    replies: list[dict[str, Any]]
    others: list[float]


def encode_effects(
    record: AttentionRecord,
    rerun: Rerun | None,
    stack: str,
    sets: Iterable[OffSet],
    query: int | None,
) -> list[SavedEffect]:
    """Measure the effect of each set of heads and links.

    Args:
        rerun: the model that `record` is of; None if it is not known.
        stack: the name of their stack.
        query: the locked query, or None.

    Raises:
        TypeError: a set is none.
        ValueError, IndexError: there is no such head or token, or no model.
        ReferenceError: the model was deleted.
    """
    if rerun is not None:
        # This cell may have changed the model in a way that a kept pass does not notice.
        rerun.forget()
    found: list[SavedEffect] = []
    for given in sets:
        off = _off(record, stack, given)
        request = effect_request(record, "effect", off, query)
        if rerun is None:
            raise ValueError(
                "effects are measured by the model, which this view does not have: make it by "
                "show(model, tokenizer, text), and save it while the model is there"
            )
        effect, predicts = rerun.effect(off)
        replies = [
            {"query": at, "effect": encode_effect(effect, predicts, replace(request, query=at))}
            for at in dict.fromkeys((None, query))
        ]
        heads, cut = [list(head) for head in off.heads], encode_links(off.links)
        others = list(rerun.others(off))
        found.append(
            {"stack": stack, "heads": heads, "cut": cut, "replies": replies, "others": others}
        )
    return found


def _off(record: AttentionRecord, stack: str, given: OffSet) -> Off:
    """The heads of a set, in order, and its links."""
    try:
        parts: list[Any] = [given] if isinstance(given, KnockOut) else list(given)
        if parts and not isinstance(parts[0], (Iterable, KnockOut)):
            parts = [parts]
        pairs = [part for part in parts if not isinstance(part, KnockOut)]
        heads = sorted({(whole_number(layer), whole_number(head)) for layer, head in pairs})
        if not parts:
            raise ValueError
    except (TypeError, ValueError):
        raise TypeError(
            f"effects has {given!r:.100}; expected (layer, head), attnwidget.KnockOut(...), or "
            "several that are off together"
        ) from None
    links = [Link.of(part, stack) for part in parts if isinstance(part, KnockOut)]
    return Off.of(record, stack, heads, links)


def encode_links(links: Iterable[Link]) -> list[SentLink]:
    """Cut links as JSON."""
    return [[None if each is None else list(each) for each in link] for link in links]
