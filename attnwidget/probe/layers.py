"""The layers from which what is annotated can be read off, task by task (Tenney et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.analysis import HeadScores, Numbers
from attnwidget.analysis.head_scores import Rows
from attnwidget.arguments import checked, entries, whole
from attnwidget.progress import progress_bar, step_done
from attnwidget.record import Floats
from attnwidget.running.batches import TextBatch
from attnwidget.running.model import run
from attnwidget.running.random_weights import with_random_weights
from attnwidget.tracing import undisturbed

from .examples import FEWEST, TASKS, Classification, Examples
from .halves import opened, reading
from .model_attention import ModelAttention, WordBatches
from .results import Findings
from .shares import Share

# With smaller gains, the mean of their layers says nothing.
_LEAST_GAIN = 0.01

# Of the network that reads a mixture, and of its fit.
_HIDDEN = 128
_EPOCHS = 10
_BATCH = 32
_LEARNING_RATE = 1e-3


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


@dataclass(frozen=True, kw_only=True)
class LayerScores(Findings):
    """The scores of the layers for each task; see `layers`.

    `table()` has a row per task, the one of the lowest expected layer first: task, classes, count,
    accuracy, low, high, majority, embeddings (the accuracy of these alone), expected_layer,
    center_of_gravity, and null_accuracy if there is a null.

    Attributes:
        scores: by task.
        null_scores: the same of random weights, or None.
    """

    scores: dict[str, LayerScore]
    null_scores: dict[str, LayerScore] | None

    def __repr__(self) -> str:
        tasks = [f"{task} {score.accuracy.value:.2f}" for task, score in self.scores.items()]
        return self._in_short(tasks, "layers and baselines")

    def _rows(self) -> list[dict[str, Any]]:
        nulls = self.null_scores or {}
        # Tasks that have no expected layer come last.
        order = np.argsort([score.expected_layer for score in self.scores.values()], kind="stable")
        return [
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
            for score in (list(self.scores.values())[place] for place in order)
        ]

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


@checked(max_examples=whole(1))
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
        batch_size, max_tokens: as for `relations`.
        seed: of all random choices, from 0.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: there is no such task, or the texts have no annotations for one; the model
            returns no hidden states, or a text is too long for it.
    """
    names = list(TASKS if tasks is None else entries("tasks", tasks, "names, as ['tags']"))
    for name in names:
        if name not in TASKS:
            raise ValueError(f"there is no task {name!r}; the tasks are {', '.join(TASKS)}")
    halves = opened(model, tokenizer, texts, held_out, None, seed, batch_size, max_tokens)
    source = halves.source
    if not isinstance(source, ModelAttention):
        raise TypeError("layers are probed by hidden states, so a model is needed")
    fitting, scoring = ([*part] for part in halves.texts)

    def scores_of(
        read: torch.nn.Module, words: WordBatches
    ) -> tuple[dict[str, LayerScore], tuple[int, int]]:
        (before, num_before), (after, num_after) = (
            _read_examples(words, read, part, names, max_examples, seed)
            for part in (fitting, scoring)
        )
        found = {}
        for name in names:
            examples = Classification(before[name], after[name], seed)
            if examples.is_possible:
                found[name] = _score(name, examples, seed)
            elif tasks is not None:
                raise ValueError(
                    f"there are too few annotations for {name!r}: two classes need {FEWEST} "
                    "examples each"
                )
        return found, (num_before, num_after)

    with reading(source.left_out):
        scores, num_texts = scores_of(source.model, source.words)
    if not scores:
        raise ValueError(f"the texts have no annotations for any of {', '.join(names)}")
    null_scores = None
    if null:
        # The same words are left out, which are not counted again.
        words = WordBatches(tokenizer, batch_size, max_tokens)
        with progress_bar("Probing", "texts"):
            null_scores, _ = scores_of(with_random_weights(source.model, seed), words)
    return LayerScores(
        scores=scores, null_scores=null_scores, num_texts=num_texts, lost=source.left_out.words
    )


def _read_examples(
    words: WordBatches,
    model: torch.nn.Module,
    texts: Iterable[Any],
    tasks: Sequence[str],
    most: int,
    seed: int,
) -> tuple[dict[str, Examples], int]:
    """Read texts until each task has its examples: (these, the number of texts).

    Their rows are "states", float16 [layers + 1, spans * dimensions], from the embeddings on.

    Args:
        words: what divides texts into words.
        most: the most examples of a task.
    """
    found = {task: Examples() for task in tasks}
    num_texts = 0
    for batch in words.of(model, texts):
        for row, states in enumerate(_states(model, batch.read)):
            text, members = batch.texts[row], batch.members[row]
            index = batch.read.texts[row].index
            num_texts += len(text) > 0
            of_words = (members / members.sum(axis=1, keepdims=True)) @ states
            for task, examples in found.items():
                # The same examples for a model and its null.
                random = np.random.default_rng([seed, index])
                for spans, name in islice(TASKS[task](text, random), most - len(examples)):
                    means = [of_words[:, start:end].mean(axis=1) for start, end in spans]
                    read = np.concatenate(means, axis=1).astype(np.float16)
                    examples.add(index, [name], states=read[None])
            step_done()
        if all(len(examples) == most for examples in found.values()):
            break
    return found, num_texts


def _states(model: torch.nn.Module, batch: TextBatch) -> list[Floats]:
    """The hidden states of each text, float32 [layers + 1, tokens, dimensions]."""
    with undisturbed(model):
        output = run(model, {**batch.tensors, "output_hidden_states": True})
    states = getattr(output, "hidden_states", None)
    if not states:
        raise ValueError(
            f"{type(model).__name__} returns no hidden_states; layers are probed of models of "
            "transformers that do"
        )
    rows = []
    for row in batch.rows:
        if row.text is None:
            raise ValueError("a text has no tokens")
        kept = row.text.kept
        rows.append(np.stack([layer[row.index].float().cpu()[kept].numpy() for layer in states]))
    return rows


def _score(name: str, examples: Classification, seed: int) -> LayerScore:
    """The score of one task."""
    states, held_out = examples.rows("states")
    cumulative = []
    for depth in range(1, states.shape[1] + 1):
        mixture = _fitted(states[:, :depth], examples.targets, len(examples.classes), seed)
        accuracy = examples.share(mixture.predict(held_out[:, :depth]))
        cumulative.append(accuracy.value)
    return LayerScore(
        name,
        len(examples.classes),
        len(examples.expected),
        examples.majority,
        np.array(cumulative),
        accuracy,
        mixture.mixing,
    )


class _Mixture(torch.nn.Module):
    """gamma * sum of softmax(s)_l h^l over layers l, then a network with one hidden layer.

    This is ELMo's scalar mix (Peters et al. 2018), as Tenney et al. 2019 use it.
    """

    def __init__(self, layers: int, dimensions: int, classes: int) -> None:
        super().__init__()
        self.scales = torch.nn.Parameter(torch.zeros(layers))
        self.gamma = torch.nn.Parameter(torch.ones(()))
        self.classify = torch.nn.Sequential(
            torch.nn.Linear(dimensions, _HIDDEN),
            torch.nn.ReLU(),
            torch.nn.Linear(_HIDDEN, classes),
        )

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """The scores [examples, classes] of states [examples, layers, dimensions]."""
        mixed = torch.einsum("l,nld->nd", torch.softmax(self.scales, dim=0), states)
        scores: torch.Tensor = self.classify(self.gamma * mixed)
        return scores

    @property
    def mixing(self) -> Numbers:
        """The weight of each layer in the mixture, float64 [layers]; they sum to 1."""
        found: Numbers = torch.softmax(self.scales.detach().double(), dim=0).numpy()
        return found

    def predict(self, states: NDArray[np.float16]) -> NDArray[np.int64]:
        """The most likely class of each example."""
        with torch.no_grad():
            found: NDArray[np.int64] = self(torch.from_numpy(states).float()).argmax(dim=1).numpy()
        return found


def _fitted(
    states: NDArray[np.float16], classes: NDArray[np.int64], count: int, seed: int
) -> _Mixture:
    """Fit a mixture by Adam: ten times over all examples.

    Args:
        states: float16 [examples, layers, dimensions].
        classes: their classes, from 0 to `count` - 1.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(seed)
        mixture = _Mixture(states.shape[1], states.shape[2], count)
        optimizer = torch.optim.Adam(mixture.parameters(), _LEARNING_RATE)
        inputs, targets = torch.from_numpy(states), torch.from_numpy(classes)
        for _ in range(_EPOCHS):
            for some in torch.split(torch.randperm(len(inputs)), _BATCH):
                scores = mixture(inputs[some].float())
                loss = torch.nn.functional.cross_entropy(scores, targets[some])
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
    return mixture
