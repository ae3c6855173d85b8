"""The score of the head that finds a relation best."""

from __future__ import annotations

from dataclasses import dataclass

from .directions import Direction
from .shares import Share


@dataclass(frozen=True)
class RelationScore:
    """The head that finds a relation best.

    Attributes:
        relation: the relation as the texts have it, such as "nmod" or "nmod:poss"; ``nmod:*`` for
            one with its subtypes; "all" for all but punctuation.
        count: the words with this relation in the held-out texts.
        layer: its number in the model.
        head: the head of that layer.
        direction: "attends" if words attend to their head words, "is attended to" if head words
            attend to them.
        accuracy: the share of words whose head word has the largest weight of all other words.
        offset: the best fixed offset from a word to its head word.
        offset_accuracy: the share of words whose head word is there.
        null_accuracy: that of the best head of a network with random weights, or None.
    """

    relation: str
    count: int
    layer: int
    head: int
    direction: Direction
    accuracy: Share
    offset: int
    offset_accuracy: Share
    null_accuracy: Share | None
