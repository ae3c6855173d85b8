"""Words for heads that find a relation, with what they are compared with."""

from __future__ import annotations

from collections.abc import Iterable

from .relation_score import SUBTYPES, RelationScore

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
