"""Links between tokens that somebody has annotated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Span = int | tuple[int, int]
"""A token position, or (start, end) of several."""

Decider = Literal["query", "key"]


@dataclass(frozen=True)
class Arc:
    """A link between tokens that somebody has annotated.

    A head hits an arc if the largest weight of its query lies on its key. Special tokens do not
    count, nor, in self-attention, does the query itself.

    Attributes:
        query, key: a token position, or (start, end) of the tokens `start` to `end - 1`.
        label: the relation, such as "obj", or "".
        by: the side that decides: "query" for the largest weight of the query, "key" for the
            largest weight that the key receives.
        stack: the stack of the tokens; None for "cross", or else the first of the record.
    """

    query: Span
    key: Span
    label: str = ""
    by: Decider = "query"
    stack: str | None = None
