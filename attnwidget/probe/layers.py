"""The layers from which what is annotated can be read off, task by task (Tenney et al. 2019)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import HeadScores, Numbers
from attnwidget.analysis.head_scores import Rows
from attnwidget.progress import progress_bar

from .halves import divide, open_source
from .results import shares_table
from .shares import Share, share_of
from .tasks import TASKS

if TYPE_CHECKING:
    import pandas as pd
    import torch

    from .hidden_states import TaskExamples


# With smaller gains, the mean of their layers says nothing.
_LEAST_GAIN = 0.01

# A class that is rarer among the examples for fitting is none.
_FEWEST = 20


@dataclass(frozen=True)
class LayerScore:
    """The scores of the layers for one task; see `layers`.

    Attributes:
        task: "tags", "relations", "entities" or "coreference".
        classes: the number of classes.
        count: the examples of held-out texts.
        majority: the accuracy of the most frequent class.
        cumulative: the accuracy of a probe of the embeddings and the first l layers, for l from
            0 on, float64 [layers + 1].
        accuracy: that of the last one, which reads all layers.
        mixing: how much each layer counts in it, from the embeddings on, float64 [layers + 1],
            with sum 1.
    """

    task: str
    classes: int
    count: int
    majority: Share
    cumulative: Numbers
    accuracy: Share
    mixing: Numbers

    @property
    def gains(self) -> Numbers:
        """The accuracy that each layer adds, float64 [layers]."""
        return np.diff(self.cumulative)

    @property
    def expected_layer(self) -> float:
        """The layer, counted from 1, at which a task is solved on average.

        The mean of layers weighted by their gains, which may be negative (equation 4 of the
        paper); NaN if all layers together gain less than .01.
        """
        total = self.gains.sum()
        if total < _LEAST_GAIN:
            return float("nan")
        return float((np.arange(1, len(self.cumulative)) * self.gains).sum() / total)

    @property
    def center_of_gravity(self) -> float:
        """The mean of layers weighted by `mixing`, with 0 for the embeddings."""
        return float((np.arange(len(self.mixing)) * self.mixing).sum())


@dataclass(frozen=True)
class LayerScores:
    """The scores of the layers for each task; see `layers`.

    Attributes:
        scores: by task.
        null_scores: the same of random weights, or None.
        num_texts: the texts on which probes were fitted, and those that were held out.
        lost: the number of words without tokens, because a tokenizer cut them off or dropped them.
    """

    scores: dict[str, LayerScore]
    null_scores: dict[str, LayerScore] | None
    num_texts: tuple[int, int]
    lost: int

    def __repr__(self) -> str:
        tasks = [f"{task} {score.accuracy.value:.2f}" for task, score in self.scores.items()]
        return (
            f"<LayerScores of {self.num_texts[1]} held-out texts: {', '.join(tasks)}; table() has "
            "layers and baselines beside them>"
        )

    def table(self) -> pd.DataFrame:
        """The tasks as a table of pandas, the one of the lowest expected layer first.

        Columns: task, classes, count, accuracy, low, high, majority, embeddings (the accuracy of
        these alone), expected_layer, center_of_gravity, and null_accuracy if there is a null.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        nulls = self.null_scores or {}
        scores = sorted(self.scores.values(), key=lambda score: _last_if_nan(score.expected_layer))
        return shares_table(
            {
                "task": score.task,
                "classes": score.classes,
                "count": score.count,
                "accuracy": score.accuracy,
                "majority": score.majority,
                "embeddings": score.cumulative[0],
                "expected_layer": score.expected_layer,
                "center_of_gravity": score.center_of_gravity,
                "null_accuracy": nulls[score.task].accuracy if score.task in nulls else None,
            }
            for score in scores
        )

    def metrics(self, heads: int) -> dict[str, HeadScores]:
        """The accuracy that each layer adds to each task, as `metrics` of `attnwidget.show`.

        Args:
            heads: the number of heads of a layer; all of a layer have its number.
        """

        def rows(score: LayerScore) -> Rows:
            return {"self": {n: np.full(heads, gain) for n, gain in enumerate(score.gains)}}

        return {
            f"layer adds to {task}": HeadScores(
                f"layer adds to {task}",
                "The accuracy that the layer adds, the same for all of its heads",
                rows(score),
                measured_on=f"{score.count:,} examples of held-out texts",
                null=None if self.null_scores is None else rows(self.null_scores[task]),
                null_label=None if self.null_scores is None else "random weights",
            )
            for task, score in self.scores.items()
        }


def _last_if_nan(layer: float) -> float:
    return float("inf") if np.isnan(layer) else layer


def layers(
    model: torch.nn.Module,
    tokenizer: Any,
    texts: Iterable[Any],
    *,
    held_out: Iterable[Any] | None = None,
    tasks: Sequence[str] | None = None,
    null: bool = False,
    max_examples: int = 2000,
    batch_size: int = 16,
    max_tokens: int | None = None,
    seed: int = 0,
) -> LayerScores:
    """Find the layers at which annotations can be read off (Tenney et al. 2019, section 3).

    For each task, a small network reads a mixture of the hidden states of some layers, of one word
    or span or of two, and tells the class. It is fitted once for the embeddings alone, once for
    these and the first layer, and so on: what a layer adds to the accuracy tells where a task is
    solved, and the `mixing` of the last network which layers it reads.

    The tasks are "tags" (the part of speech of a word), "relations" (that of a word and its head
    word, without subtypes), "entities" (the kind of a mention) and "coreference" (if two mentions
    are of one entity; half of the pairs are not). A word has the mean of its tokens, a span the
    mean of its words. The figures of the paper are of other treebanks, longer training, and
    attentive spans: the order of tasks is what can be compared.

    Args:
        model: a transformers model that returns hidden states.
        tokenizer: its tokenizer.
        texts: Annotated texts.
        held_out: the texts for the scores. None to hold out every second text.
        tasks: some tasks; None for all that the texts have annotations for.
        null: True to fit the same of a newly initialised model of the same architecture.
        max_examples: the most examples of a task and part; all of their hidden states are held.
        batch_size, max_tokens: as for `attnwidget.profile`; words that are cut off are counted.
        seed: of all random choices, from 0.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: there is no such task, or the texts have no annotations for one; the model
            returns no hidden states, or a text is too long for it.
    """
    names = list(TASKS) if tasks is None else list(tasks)
    for name in names:
        if name not in TASKS:
            raise ValueError(f"there is no task {name!r}; the tasks are {', '.join(TASKS)}")
    # Imported here, so that the results of probes can be read without torch.
    from attnwidget.running.random_weights import with_random_weights

    from .hidden_states import read_examples
    from .model_attention import ModelAttention

    source, texts = open_source(
        model, tokenizer, texts, null=None, seed=seed, batch_size=batch_size, max_tokens=max_tokens
    )
    if not isinstance(source, ModelAttention):
        raise TypeError("layers are probed by hidden states, so a model is needed")
    if type(max_examples) is not int or max_examples < 1:
        raise ValueError(f"max_examples is {max_examples!r}; expected a number from 1")
    fitting, scoring = ([*part] for part in divide(source, texts, held_out))

    def scores_of(read: torch.nn.Module) -> tuple[dict[str, LayerScore], tuple[int, int]]:
        with progress_bar("Probing", "texts"):
            before, after = (
                read_examples(source, read, part, names, max_examples, seed)
                for part in (fitting, scoring)
            )
        found = {}
        for name in names:
            score = _score(name, before.by_task[name], after.by_task[name], seed)
            if score is not None:
                found[name] = score
            elif tasks is not None:
                raise ValueError(
                    f"there are too few annotations for {name!r}: two classes need {_FEWEST} "
                    "examples each"
                )
        return found, (before.num_texts, after.num_texts)

    scores, num_texts = scores_of(source.model)
    if not scores:
        raise ValueError(f"the texts have no annotations for any of {', '.join(names)}")
    lost = source.heads.lost
    null_scores = scores_of(with_random_weights(source.model, seed))[0] if null else None
    return LayerScores(scores, null_scores, num_texts, lost)


def _score(name: str, before: TaskExamples, after: TaskExamples, seed: int) -> LayerScore | None:
    """The score of one task; None if there are not two classes."""
    from .mixture import fitted

    counts = Counter(before.names)
    classes = sorted(name for name, count in counts.items() if count >= _FEWEST)
    if len(classes) < 2 or not set(classes) & set(after.names):
        return None
    states, targets, _ = before.of(classes)
    held_out, expected, texts = after.of(classes)

    def share(predicted: NDArray[np.int64]) -> Share:
        return share_of(predicted == expected, texts, seed)

    cumulative = []
    for depth in range(1, states.shape[1] + 1):
        mixture = fitted(states[:, :depth], targets, len(classes), seed)
        accuracy = share(mixture.predict(held_out[:, :depth]))
        cumulative.append(accuracy.value)
    majority = classes.index(max(classes, key=lambda name: counts[name]))
    return LayerScore(
        name,
        len(classes),
        len(expected),
        share(np.full_like(expected, majority)),
        np.array(cumulative),
        accuracy,
        mixture.mixing,
    )
