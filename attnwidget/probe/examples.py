"""Examples of classes, which classifiers are fitted on and scored on, and tasks that have some."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .annotated import Annotated, dependencies
from .shares import Share, Shares

FEWEST = 20
"""A class that is rarer among the examples for fitting is none."""


class Examples:
    """Examples that are found text by text.

    Attributes:
        names: of their classes.
        texts: the index of each one's text.
        read: by what is read of them, arrays with a row for each.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.texts: list[int] = []
        self.read: defaultdict[str, list[NDArray[Any]]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self.names)

    def add(self, index: int, names: Sequence[str], **rows: NDArray[Any]) -> None:
        """Add the examples of a text.

        Args:
            rows: what is read of them: an array with a row for each.
        """
        self.names += names
        self.texts += [index] * len(names)
        for name, array in rows.items():
            self.read[name].append(array)


class Classification:
    """The classes of some examples, to be fitted, and of held-out ones, to be scored.

    Attributes:
        classes: those that are frequent enough, in order.
        read: what is read of the examples.
        targets, expected: the places in `classes` of either's examples, int64 [examples].
    """

    def __init__(self, fitted: Examples, held_out: Examples, seed: int) -> None:
        self._counts = Counter(fitted.names)
        self.classes = sorted(name for name, count in self._counts.items() if count >= FEWEST)
        self._parts = fitted, held_out
        self.read = tuple(fitted.read)
        self._kept = [np.isin(part.names, self.classes) for part in self._parts]
        self.targets, self.expected = (
            np.array([self.classes.index(n) for n in part.names if n in self.classes], np.int64)
            for part in self._parts
        )
        self._seed = seed

    @property
    def is_possible(self) -> bool:
        """True if there are classes to tell, and examples to score."""
        return len(self.classes) > 1 and len(self.expected) > 0

    def rows(self, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """The numbers read of the examples for fitting, and of held-out ones."""
        first, held_out = (
            np.concatenate(part.read[name])[kept]
            for part, kept in zip(self._parts, self._kept, strict=True)
        )
        return first, held_out

    def share(self, predicted: NDArray[np.int64]) -> Share:
        """The share of held-out examples whose class is predicted."""
        shares, texts = Shares((), self._seed), np.array(self._parts[1].texts)[self._kept[1]]
        for index in np.unique(texts).tolist():
            of_text = (predicted == self.expected)[texts == index]
            shares.add(index, of_text.sum(), len(of_text))
        return shares.share()

    @property
    def majority(self) -> Share:
        """The share whose class is the most frequent of those for fitting."""
        most = max(self.classes, key=lambda name: self._counts[name])
        return self.share(np.full_like(self.expected, self.classes.index(most)))


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
