"""Links between tokens that somebody has annotated, which the head view draws over its lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict, get_args

from attnwidget.arguments import entries
from attnwidget.record import Arc, AttentionRecord, Tokens
from attnwidget.record.tokens import Decider

from .text import sendable

# A view draws all of them.
_MAX_ARCS = 4096
_MAX_LABEL = 60


class SentArc(TypedDict):
    """An arc as JSON; `query` and `key` are the first position and the end."""

    stack: str
    query: list[int]
    key: list[int]
    label: str
    by: Decider


def encode_arcs(record: AttentionRecord, arcs: Iterable[Arc] | None) -> list[SentArc]:
    """Check arcs against the record, and encode them; None for no arcs.

    Raises:
        TypeError: they are no collection of arcs.
        ValueError: an arc names a stack or tokens that the record does not have, or its label is
            too long.
    """
    if arcs is None:
        return []
    listed = list(entries("arcs", arcs, "a list of attnwidget.Arc"))
    if len(listed) > _MAX_ARCS:
        raise ValueError(f"there are {len(listed)} arcs; at most {_MAX_ARCS} can be shown")
    return [_encoded(record, arc) for arc in listed]


def _encoded(record: AttentionRecord, arc: Any) -> SentArc:
    if not isinstance(arc, Arc):
        raise TypeError(
            f"arcs has {arc!r:.100}; expected attnwidget.Arc(query, key, label), with token "
            "positions or (start, end)"
        )
    name = arc.stack
    if name is None:
        name = "cross" if "cross" in record.stacks else record.stacks[0]
    if name not in record.stacks:
        raise ValueError(
            f"{arc} is of the stack {name!r}; this record has {', '.join(record.stacks)}"
        )
    if arc.by not in get_args(Decider):
        raise ValueError(f"{arc} is decided by {arc.by!r}; expected 'query' or 'key'")
    if not isinstance(arc.label, str) or len(arc.label) > _MAX_LABEL:
        raise ValueError(
            f"an arc has the label {arc.label!r:.100}; expected up to {_MAX_LABEL} characters"
        )
    stack = record.stack(name)
    return {
        "stack": name,
        "query": _span(arc, "query", stack.queries),
        "key": _span(arc, "key", stack.keys),
        "label": sendable(arc.label),
        "by": arc.by,
    }


def _span(arc: Arc, side: Decider, tokens: Tokens) -> list[int]:
    span: Any = getattr(arc, side)
    try:
        start, end = span if isinstance(span, (tuple, list)) else (span, span.__index__() + 1)
        ends = [start.__index__(), end.__index__()]
    except (AttributeError, TypeError, ValueError):
        raise TypeError(
            f"the {side} of an arc is {span!r:.60}; expected a token position, or (start, end)"
        ) from None
    if not 0 <= ends[0] < ends[1] <= len(tokens):
        raise ValueError(
            f"the {side} of {arc} lies outside of the text: there are {len(tokens)} tokens, from 0"
        )
    return ends
