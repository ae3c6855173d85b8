"""Relations between words as arcs between the tokens of a record."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnwidget.record import Arc, Tokens

from .annotated import Annotated, dependencies
from .directions import Direction
from .relation_rows import rows_of
from .word_tokens import tokens_of_words


def word_arcs(
    tokenizer: Any, text: Annotated, tokens: Tokens, relation: str, direction: Direction
) -> list[Arc]:
    """The arcs of a relation in a text, decided by the dependent word.

    Args:
        relation: the name of a row, see `rows_of`.
        direction: "attends" if the dependent word is the query.
    """
    members = tokens_of_words(tokenizer, text, tokens, None)
    spans = [
        (int(positions[0]), int(positions[-1]) + 1) if len(positions) else None
        for positions in map(np.flatnonzero, members)
    ]
    arcs = []
    for word, head, name in dependencies(text):
        own, other = spans[word], spans[head]
        if own is None or other is None or relation not in rows_of(name):
            continue
        arcs.append(
            Arc(own, other, name) if direction == "attends" else Arc(other, own, name, by="key")
        )
    return arcs
