"""Do the weights of all heads between two words tell that they are related, and how?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.progress import progress_bar
from attnwidget.record import Floats

from .annotated import Annotated, dependencies
from .halves import Halves, Null, Pairs, open_source
from .linear import Classifier
from .results import ProbeScores, shares_table
from .shares import Share, share_of
from .word_attention import Heads, WordAttention

if TYPE_CHECKING:
    import pandas as pd
    import torch

_FARTHEST = 10
"""Distances above are one."""

_TASKS = ("related", "relation")

_FEWEST = 20
"""A relation that is rarer among the texts for fitting is no class."""


@dataclass(frozen=True)
class EdgeScore:
    """A classifier of pairs of words, beside its baselines. All of held-out texts.

    Attributes:
        task: "related" or "relation".
        classes: the number of classes.
        count: the pairs.
        accuracy: the share of pairs whose class is right.
        distance: that of a classifier that knows the signed distance of the words alone.
        majority: that of the most frequent class.
        null_accuracy: that of a classifier of a network with random weights, or None.
    """

    task: str
    classes: int
    count: int
    accuracy: Share
    distance: Share
    majority: Share
    null_accuracy: Share | None


@dataclass(frozen=True, kw_only=True)
class EdgeScores(ProbeScores):
    """Both classifiers; see `edge_classifier`.

    `heads` has by task how much each head counts: the length of its standardized coefficients in
    both directions, over all classes.

    Attributes:
        related: is there a relation.
        relation: which.
    """

    related: EdgeScore
    relation: EdgeScore

    def table(self) -> pd.DataFrame:
        """Both classifiers as a table of pandas, a row each.

        Columns: task, classes, count, accuracy, low, high, distance, majority, and null_accuracy
        if there is a null.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        return shares_table(vars(score) for score in (self.related, self.relation))


def edge_classifier(
    model: torch.nn.Module | Pairs,
    tokenizer: Any = None,
    texts: Iterable[Any] | None = None,
    *,
    held_out: Iterable[Any] | None = None,
    null: Null | None = "random weights",
    max_pairs: int = 20_000,
    batch_size: int = 16,
    max_tokens: int | None = None,
    seed: int = 0,
) -> EdgeScores:
    """Classify pairs of words by the weights of all heads between them (Coenen et al. 2019).

    Two logistic regressions read the model-wide attention vector of a pair: the weights of every
    head from one word to the other, and back. "related" tells pairs of a word and its head word
    from as many other pairs of words of the same texts, chosen at random; its pairs are in the
    order of the text. "relation" tells the relations, without subtypes, from each other; its pairs
    are in the order dependent, head word. The root has no pair.

    Args:
        texts: Annotated texts with heads and relations; the other arguments are those of
            `relations`.
        max_pairs: the most pairs for each classifier and part; further texts are not read.

    Returns:
        Accuracies on held-out texts with 95% intervals by a bootstrap over texts, beside those of
        the words' distance, the most frequent class, and random weights.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: a text has no heads or relations, or is too long for the model; there are too
            few pairs; an array has a wrong shape.
        ModuleNotFoundError: scikit-learn is not installed.
    """
    source, texts = open_source(
        model, tokenizer, texts, null=null, seed=seed, batch_size=batch_size, max_tokens=max_tokens
    )
    if type(max_pairs) is not int or max_pairs < 1:
        raise ValueError(f"max_pairs is {max_pairs!r}; expected a number from 1")
    halves = Halves(source, texts, held_out)
    with progress_bar("Probing", "texts"):
        fitted = _collected(halves.first(), max_pairs, seed)
        scored = _collected(halves.held_out(), max_pairs, seed)
    found = {
        task: _compared(task, fitted[task].pairs(), scored[task].pairs(), source.heads, seed)
        for task in _TASKS
    }
    return EdgeScores(
        related=found["related"][0],
        relation=found["relation"][0],
        heads={
            task: source.heads.scores(
                f"counts for {task}",
                "The length of the coefficients of the head in a classifier of pairs of words",
                own,
                of_null,
                measured_on=f"{halves.num_texts[0]:,} texts",
            )
            for task, (_, own, of_null) in found.items()
        },
        num_texts=halves.num_texts,
        lost=source.heads.lost,
    )


class _Pairs(NamedTuple):
    """Pairs of words, as arrays.

    Attributes:
        own: the weights of all heads, float32 [pairs, 2 * layers * heads].
        null: the same of random weights, or None.
        distances: the second word's place minus the first's, int64 [pairs].
        classes: str [pairs].
        texts: the index of each pair's text, int64 [pairs].
    """

    own: Floats
    null: Floats | None
    distances: NDArray[np.int64]
    classes: NDArray[np.str_]
    texts: NDArray[np.int64]

    def of(self, classes: list[str]) -> _Pairs:
        """The pairs of some classes."""
        kept = np.isin(self.classes, classes)
        null = None if self.null is None else self.null[kept]
        return _Pairs(
            self.own[kept], null, self.distances[kept], self.classes[kept], self.texts[kept]
        )

    @property
    def distance_columns(self) -> Floats:
        """1 for the distance of each pair, float32 [pairs, distances]."""
        near = self.distances.clip(-_FARTHEST, _FARTHEST)
        columns: Floats = np.eye(2 * _FARTHEST + 1, dtype=np.float32)[near + _FARTHEST]
        return columns


@dataclass
class _Collector:
    """The pairs of one task, text by text."""

    own: list[Floats] = field(default_factory=list)
    null: list[Floats] = field(default_factory=list)
    distances: list[int] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)

    def add(self, read: WordAttention[Annotated], pairs: Mapping[tuple[int, int], str]) -> None:
        """Add the pairs of a text, by their class."""
        places = np.array(list(pairs))
        self.own.append(_vectors(read.weights, places))
        if read.null is not None:
            self.null.append(_vectors(read.null, places))
        self.distances += (places[:, 1] - places[:, 0]).tolist()
        self.classes += pairs.values()
        self.texts += [read.index] * len(pairs)

    def pairs(self) -> _Pairs:
        return _Pairs(
            np.concatenate(self.own),
            np.concatenate(self.null) if self.null else None,
            np.array(self.distances, np.int64),
            np.array(self.classes, np.str_),
            np.array(self.texts, np.int64),
        )


def _collected(
    texts: Iterable[WordAttention[Annotated]], most: int, seed: int
) -> dict[str, _Collector]:
    """The pairs of each task in some texts, until there are enough of all."""
    found = {task: _Collector() for task in _TASKS}
    for read in texts:
        random = np.random.default_rng([seed, read.index])
        edges = {
            (word, head): relation.split(":")[0] for word, head, relation in dependencies(read.text)
        }
        related = _with_others(read.text, edges, random)
        for task, pairs in (("related", related), ("relation", edges)):
            # Each text is read as a whole, so that the classes of "related" stay balanced.
            if pairs and len(found[task].classes) + len(pairs) <= most:
                found[task].add(read, pairs)
        if all(len(collector.classes) > most - 100 for collector in found.values()):
            break
    if not all(collector.classes for collector in found.values()):
        raise ValueError("there are no texts, or none with a word that has a head word")
    return found


def _with_others(
    text: Annotated, edges: Iterable[tuple[int, int]], random: np.random.Generator
) -> dict[tuple[int, int], str]:
    """Related pairs in the order of the text, and as many others, by their class."""
    related = sorted({(min(pair), max(pair)) for pair in edges})
    linked = set(related)
    others = [
        (first, second)
        for second in range(len(text))
        for first in range(second)
        if (first, second) not in linked
    ]
    size = min(len(related), len(others))
    chosen = random.permutation(len(others))[:size].tolist()
    kept = random.permutation(len(related))[:size].tolist()
    pairs = {related[number]: "related" for number in kept}
    pairs.update({others[number]: "other" for number in chosen})
    return pairs


def _vectors(weights: Floats, places: NDArray[np.int64]) -> Floats:
    """The weights of all heads from the first words to the second, and back."""
    first, second = places.T
    both = np.stack([weights[:, :, first, second], weights[:, :, second, first]])
    vectors: Floats = both.reshape(-1, len(places)).T
    return vectors


def _compared(
    task: str, fitted: _Pairs, scored: _Pairs, heads: Heads, seed: int
) -> tuple[EdgeScore, Numbers, Numbers | None]:
    """The accuracies of one task; how much each head counts, and how much of random weights."""
    often = [name for name, count in Counter(fitted.classes.tolist()).items() if count >= _FEWEST]
    fitted, scored = fitted.of(often), scored.of(often)
    if len(often) < 2 or not len(scored.classes):
        raise ValueError(
            f"there are too few pairs of words to tell their classes ({task}); each needs {_FEWEST}"
        )

    def share(hits: NDArray[np.bool_]) -> Share:
        return share_of(hits, scored.texts, seed)

    def sizes(classifier: Classifier) -> Numbers:
        both = classifier.size.reshape(2, *heads.shape)
        found: Numbers = np.hypot(both[0], both[1])
        return found

    own = Classifier(fitted.own, fitted.classes)
    by_distance = Classifier(fitted.distance_columns, fitted.classes)
    [(most_frequent, _)] = Counter(fitted.classes.tolist()).most_common(1)
    null_accuracy = null_sizes = None
    if fitted.null is not None and scored.null is not None:
        null = Classifier(fitted.null, fitted.classes)
        null_accuracy = share(null.hits(scored.null, scored.classes))
        null_sizes = sizes(null)
    score = EdgeScore(
        task=task,
        classes=len(often),
        count=len(scored.classes),
        accuracy=share(own.hits(scored.own, scored.classes)),
        distance=share(by_distance.hits(scored.distance_columns, scored.classes)),
        majority=share(scored.classes == most_frequent),
        null_accuracy=null_accuracy,
    )
    return score, sizes(own), null_sizes
