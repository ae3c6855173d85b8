"""Examples of one or two spans of words, with a class, from annotated texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from .annotated import Annotated, dependencies


class Example(NamedTuple):
    """Spans with a class.

    Attributes:
        spans: (start, end) of one or two spans of words.
        name: of the class.
    """

    spans: tuple[tuple[int, int], ...]
    name: str


_Task: TypeAlias = Callable[[Annotated, np.random.Generator], Iterator[Example]]


def _tags(text: Annotated, _: np.random.Generator) -> Iterator[Example]:
    for word, tag in enumerate(text.tags or ()):
        yield Example(((word, word + 1),), tag)


def _relations(text: Annotated, _: np.random.Generator) -> Iterator[Example]:
    if text.heads is None or text.relations is None:
        return
    for word, head, relation in dependencies(text):
        yield Example(((word, word + 1), (head, head + 1)), relation.split(":")[0])


def _entities(text: Annotated, _: np.random.Generator) -> Iterator[Example]:
    for mention in text.mentions:
        if mention.kind:
            yield Example(((mention.start, mention.end),), mention.kind)


def _coreference(text: Annotated, random: np.random.Generator) -> Iterator[Example]:
    """Pairs of mentions of one entity, and as many of two."""
    pairs = [
        ((first.start, first.end), (second.start, second.end), first.entity == second.entity)
        for number, second in enumerate(text.mentions)
        for first in text.mentions[:number]
    ]
    same = [pair for pair in pairs if pair[2]]
    other = [pair for pair in pairs if not pair[2]]
    size = min(len(same), len(other))
    for kind in (same, other):
        for place in random.permutation(len(kind))[:size].tolist():
            first, second, is_same = kind[place]
            yield Example((first, second), "same" if is_same else "other")


TASKS: Mapping[str, _Task] = {
    "tags": _tags,
    "relations": _relations,
    "entities": _entities,
    "coreference": _coreference,
}
"""The function that finds the examples of a text, by the name of the task."""
