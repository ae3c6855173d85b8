"""The score of the head that finds a relation best, and the relations that have a score."""

from __future__ import annotations

from dataclasses import dataclass

from .best_heads import BestHead, Direction
from .shares import Share

ALL = "all"
"""The row of all relations but punctuation."""

SUBTYPES = ":*"
"""The end of the name of a row with a relation and all its subtypes."""


def rows_of(relation: str) -> tuple[str, ...]:
    """Its own row, that with its subtypes, and "all"; none for "punct" and "root"."""
    base = relation.split(":")[0]
    return () if base in ("punct", "root") else (relation, f"{base}{SUBTYPES}", ALL)


@dataclass(frozen=True, kw_only=True)
class RelationScore(BestHead):
    """The head that finds a relation best.

    The decisions are those of words with this relation: right if the head word has the largest
    weight of all other words.

    Attributes:
        relation: the relation as the texts have it, such as "nmod" or "nmod:poss"; ``nmod:*`` for
            one with its subtypes; "all" for all but punctuation.
        direction: "attends" if words attend to their head words, "is attended to" if head words
            attend to them.
        offset: the best fixed offset from a word to its head word.
        offset_accuracy: the share of words whose head word is there.
    """

    relation: str
    direction: Direction
    offset: int
    offset_accuracy: Share
