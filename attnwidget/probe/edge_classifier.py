"""Do the weights of all heads between two words tell that they are related, and how?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers, data_frame
from attnwidget.progress import progress_bar
from attnwidget.record import Floats

from .annotated import Annotated, dependencies
from .linear import Classifier
from .shares import Share, Shares
from .source import Null, Pairs, Source, divided, opened

if TYPE_CHECKING:
    import pandas as pd
    import torch

_FARTHEST = 10
"""Distances above are one."""

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


@dataclass(frozen=True)
class EdgeScores:
    """Both classifiers; see `edge_classifier`.

    Attributes:
        related: is there a relation.
        relation: which.
        sizes: by task, how much each head counts: the length of its standardized coefficients in
            both directions, over all classes, float64 [layers, heads], with NaN where a layer has
            fewer heads than another.
        null_sizes: the same of random weights, or None.
        numbers: the layers' numbers in the model.
        num_texts: the texts on which the classifiers were fitted, and those that were held out.
        lost: the number of words without tokens, because a tokenizer cut them off or dropped them.
        missing: attention that could not be read, as "module: reason".
    """

    related: EdgeScore
    relation: EdgeScore
    sizes: dict[str, Numbers] = field(repr=False)
    null_sizes: dict[str, Numbers] | None = field(repr=False)
    numbers: tuple[int, ...]
    num_texts: tuple[int, int]
    lost: int
    missing: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """Both classifiers as a table of pandas, a row each.

        Columns: task, classes, count, accuracy, low, high, distance, majority, and null_accuracy
        if there is a null.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        scores = (self.related, self.relation)
        columns: dict[str, list[Any]] = {
            name: [getattr(score, name) for score in scores]
            for name in ("task", "classes", "count")
        }
        columns["accuracy"] = [score.accuracy.value for score in scores]
        columns["low"] = [score.accuracy.low for score in scores]
        columns["high"] = [score.accuracy.high for score in scores]
        columns["distance"] = [score.distance.value for score in scores]
        columns["majority"] = [score.majority.value for score in scores]
        if self.null_sizes is not None:
            columns["null_accuracy"] = [
                np.nan if score.null_accuracy is None else score.null_accuracy.value
                for score in scores
            ]
        return data_frame(columns)

    def metrics(self) -> dict[str, dict[str, Any]]:
        """The lengths of each head's coefficients, as `metrics` of `attnwidget.show`."""
        metrics: dict[str, dict[str, Any]] = {}
        for task, sizes in self.sizes.items():
            metrics[f"counts for {task}"] = {"values": sizes}
            if self.null_sizes is not None:
                metrics[f"counts for {task}"]["null"] = self.null_sizes[task]
                metrics[f"counts for {task}"]["null_label"] = "random weights"
        return metrics


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
    source, texts = opened(
        model,
        tokenizer,
        texts,
        null=null,
        seed=seed,
        batch_size=batch_size,
        max_tokens=max_tokens,
    )
    if type(max_pairs) is not int or max_pairs < 1:
        raise ValueError(f"max_pairs is {max_pairs!r}; expected a number from 1")
    fitting, scoring = divided(source, texts, held_out)
    with progress_bar("Probing", "texts"):
        fitted = _collected(source, fitting, max_pairs, seed)
        scored = _collected(source, scoring, max_pairs, seed)
    scores: dict[str, EdgeScore] = {}
    sizes: dict[str, Numbers] = {}
    null_sizes: dict[str, Numbers] = {}
    for task in ("related", "relation"):
        before, after = fitted.pairs[task].arrays(), scored.pairs[task].arrays()
        often = [
            name for name, count in Counter(before.classes.tolist()).items() if count >= _FEWEST
        ]
        before, after = before.of(often), after.of(often)
        if len(often) < 2 or not len(after.classes):
            raise ValueError(
                f"there are too few pairs of words to tell their classes ({task}); each needs "
                f"{_FEWEST}"
            )
        scores[task], sizes[task], of_null = _compared(task, before, after, source, seed)
        if of_null is not None:
            null_sizes[task] = of_null
    return EdgeScores(
        scores["related"],
        scores["relation"],
        sizes,
        null_sizes or None,
        source.heads.numbers,
        (fitted.num_texts, scored.num_texts),
        source.heads.lost,
        tuple(source.heads.missing),
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

    def arrays(self) -> _Pairs:
        own = np.concatenate([*self.own, np.zeros((0, *self.own[0].shape[1:]), np.float32)])
        null = np.concatenate(self.null) if self.null else None
        return _Pairs(
            own,
            null,
            np.array(self.distances, np.int64),
            np.array(self.classes, np.str_),
            np.array(self.texts, np.int64),
        )


@dataclass
class _Collected:
    """The pairs of both tasks."""

    pairs: dict[str, _Collector]
    num_texts: int = 0


def _collected(source: Source, texts: Iterable[Any], most: int, seed: int) -> _Collected:
    found = _Collected({"related": _Collector(), "relation": _Collector()})
    for read in source.read(texts):
        found.num_texts += 1
        random = np.random.default_rng([seed, read.index])
        edges = {
            (word, head): relation.split(":")[0] for word, head, relation in dependencies(read.text)
        }
        related = _with_others(read.text, edges, random)
        for task, pairs in (("related", related), ("relation", edges)):
            collector = found.pairs[task]
            # Each text is read as a whole, so that the classes of "related" stay balanced.
            if not pairs or len(collector.classes) + len(pairs) > most:
                continue
            places = np.array(list(pairs))
            collector.own.append(_vectors(read.weights, places))
            if read.null is not None:
                collector.null.append(_vectors(read.null, places))
            collector.distances += (places[:, 1] - places[:, 0]).tolist()
            collector.classes += pairs.values()
            collector.texts += [read.index] * len(pairs)
        if all(len(collector.classes) > most - 100 for collector in found.pairs.values()):
            break
    if not found.pairs["relation"].classes or not found.pairs["related"].classes:
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
    task: str, fitted: _Pairs, scored: _Pairs, source: Source, seed: int
) -> tuple[EdgeScore, Numbers, Numbers | None]:
    """The accuracies of one task; how much each head counts, and how much of random weights."""

    def share(hits: NDArray[np.bool_]) -> Share:
        shares = Shares((), seed)
        for index in np.unique(scored.texts).tolist():
            of_text = hits[scored.texts == index]
            shares.add(index, of_text.sum(), len(of_text))
        return shares.share()

    def sizes(classifier: Classifier) -> Numbers:
        both = classifier.size.reshape(2, *source.heads.shape)
        found: Numbers = np.where(source.heads.exists, np.hypot(both[0], both[1]), np.nan)
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
        task,
        len(np.unique(fitted.classes)),
        len(scored.classes),
        share(own.hits(scored.own, scored.classes)),
        share(by_distance.hits(scored.distance_columns, scored.classes)),
        share(scored.classes == most_frequent),
        null_accuracy,
    )
    return score, sizes(own), null_sizes
