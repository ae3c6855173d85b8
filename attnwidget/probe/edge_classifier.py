"""Do the weights of all heads between two words tell that they are related, and how?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import HeadScores, Numbers
from attnwidget.arguments import checked, whole
from attnwidget.counted import counted
from attnwidget.extras import extra
from attnwidget.record import Floats

from .annotated import Annotated, dependencies
from .examples import FEWEST, Classification, Examples
from .halves import Null, Pairs, opened, reading
from .results import ProbeScores
from .shares import Share
from .word_attention import WordAttention, pair_features

if TYPE_CHECKING:
    import torch

_TASKS = ("related", "relation")


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

    `table()` has a row each: task, classes, count, accuracy, low, high, distance, majority, and
    null_accuracy if there is a null. `heads` has by task how much each head counts: the length of
    its standardized coefficients in both directions, over all classes.

    Attributes:
        related: is there a relation.
        relation: which.
    """

    related: EdgeScore
    relation: EdgeScore

    def _rows(self) -> list[dict[str, Any]]:
        return [vars(score) for score in (self.related, self.relation)]


@checked(max_pairs=whole(1))
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
    halves = opened(model, tokenizer, texts, held_out, null, seed, batch_size, max_tokens)
    with reading(halves.left_out):
        fitted = _read_pairs(halves.first(), max_pairs, seed)
        scored = _read_pairs(halves.held_out(), max_pairs, seed)
    measured_on = counted(halves.num_texts[0], "text")
    scores: dict[str, EdgeScore] = {}
    heads: dict[str, HeadScores] = {}
    for task in _TASKS:
        scores[task], sizes = _score(task, fitted[task], scored[task], seed)
        lengths = {
            name: np.hypot(*each.reshape(2, *halves.heads.shape))
            for name, each in sizes.items()
            if name != "distance"
        }
        heads[task] = halves.heads.scores(
            f"counts for {task}",
            "The length of the coefficients of the head in a classifier of pairs of words",
            lengths["own"],
            lengths.get("null"),
            measured_on=measured_on,
        )
    return EdgeScores(
        related=scores["related"],
        relation=scores["relation"],
        heads=heads,
        num_texts=halves.num_texts,
        lost=halves.left_out.words,
    )


def _read_pairs(
    texts: Iterable[WordAttention[Annotated]], most: int, seed: int
) -> dict[str, Examples]:
    """The pairs of each task in some texts, until there are enough of all."""
    found = {task: Examples() for task in _TASKS}
    for read in texts:
        random = np.random.default_rng([seed, read.index])
        features = pair_features(read)
        edges = {
            (word, head): relation.split(":")[0] for word, head, relation in dependencies(read.text)
        }
        related = _with_others(read.text, edges, random)
        for task, pairs in (("related", related), ("relation", edges)):
            # Each text is read as a whole, so that the classes of "related" stay balanced.
            if not pairs or len(found[task]) + len(pairs) > most:
                continue
            first, second = np.array(list(pairs)).T
            rows = {name: each[:, first, second].T for name, each in features.items()}
            found[task].add(read.index, list(pairs.values()), **rows)
        if all(len(examples) > most - 100 for examples in found.values()):
            break
    if not all(map(len, found.values())):
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


def _score(
    task: str, fitted: Examples, held_out: Examples, seed: int
) -> tuple[EdgeScore, dict[str, Numbers]]:
    """The accuracies of one task, and the lengths of coefficients by what is read."""
    examples = Classification(fitted, held_out, seed)
    if not examples.is_possible:
        raise ValueError(
            f"there are too few pairs of words to tell their classes ({task}); each needs {FEWEST}"
        )
    accuracies: dict[str, Share] = {}
    sizes: dict[str, Numbers] = {}
    for name in examples.read:
        rows, others = examples.rows(name)
        classifier = _fitted(rows, examples.targets)
        accuracies[name] = examples.share(classifier.predict(others))
        sizes[name] = np.linalg.norm(classifier[-1].coef_, axis=0)
    score = EdgeScore(
        task=task,
        classes=len(examples.classes),
        count=len(examples.expected),
        accuracy=accuracies["own"],
        distance=accuracies["distance"],
        majority=examples.majority,
        null_accuracy=accuracies.get("null"),
    )
    return score, sizes


def _fitted(rows: Floats, targets: NDArray[np.int64]) -> Any:
    """A logistic regression of scikit-learn with an L2 penalty, on standardized numbers.

    Raises:
        ModuleNotFoundError: scikit-learn is not installed.
    """
    with extra("probe", "this probe needs scikit-learn"):
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, tol=1e-3))
    return classifier.fit(rows, targets)
