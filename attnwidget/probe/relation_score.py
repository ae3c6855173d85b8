"""The score of the head that finds a relation best, the relations with a score, and their words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .best_heads import BestHead, Direction
from .shares import Share

ALL = "all"
"""The row of all relations but punctuation."""

SUBTYPES = ":*"
"""The end of the name of a row with a relation and all its subtypes."""


# Universal Dependencies in plain words.
_WORDS = {
    "acl": "clauses of nouns",
    "advcl": "adverbial clauses",
    "advmod": "adverbs",
    "amod": "adjectives",
    "appos": "appositions",
    "aux": "auxiliaries",
    "case": "prepositions",
    "cc": "conjunctions",
    "ccomp": "clausal complements",
    "compound": "compounds",
    "conj": "conjuncts",
    "cop": "copulas",
    "det": "determiners",
    "iobj": "indirect objects",
    "mark": "markers of clauses",
    "nmod": "nominal modifiers",
    "nmod:poss": "possessives",
    "nsubj": "subjects",
    "nummod": "numbers",
    "obj": "objects",
    "obl": "obliques",
    "xcomp": "open complements",
}
_MOST = 3


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


def head_names(scores: Iterable[RelationScore]) -> dict[tuple[int, int], str]:
    """By (layer, head), the relations that the head finds best of all heads.

    A relation counts if the interval of its accuracy is above those of the best offset and of the
    best head of random weights.
    """
    named: dict[tuple[int, int], list[RelationScore]] = {}
    for score in scores:
        beside = [score.offset_accuracy, score.null_accuracy]
        if all(other is None or score.accuracy.low > other.high for other in beside):
            named.setdefault((score.layer, score.head), []).append(score)
    return {
        place: "; ".join(map(_name, sorted(_once(own), key=_margin, reverse=True)[:_MOST]))
        for place, own in named.items()
    }


def _once(scores: list[RelationScore]) -> list[RelationScore]:
    """The scores without those of a relation that is there with its subtypes as well."""
    names = {score.relation for score in scores}
    return [score for score in scores if f"{score.relation}{SUBTYPES}" not in names]


def _margin(score: RelationScore) -> float:
    return score.accuracy.value - score.offset_accuracy.value


def _name(score: RelationScore) -> str:
    words = _WORDS.get(score.relation.removesuffix(SUBTYPES))
    name = f"{words} ({score.relation})" if words else score.relation
    null = (
        "" if score.null_accuracy is None else f", random weights {score.null_accuracy.value:.2f}"
    )
    return (
        f"finds {name}: {score.accuracy.value:.2f} of {score.count:,}, best offset "
        f"{score.offset_accuracy.value:.2f}{null}"
    )
