"""The hidden states of all layers for the examples of some tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.progress import step_done
from attnwidget.record import Floats
from attnwidget.running.batches import TextBatch
from attnwidget.tracing import undisturbed

from .model_attention import ModelAttention
from .tasks import TASKS

_Halves: TypeAlias = "NDArray[np.float16]"


@dataclass
class TaskExamples:
    """The examples of one task.

    Attributes:
        states: of each example, float16 [layers + 1, spans * dimensions], from the embeddings on.
        names: their classes.
        texts: the index of each one's text.
    """

    states: list[_Halves] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)

    def of(self, names: Sequence[str]) -> tuple[_Halves, NDArray[np.int64], NDArray[np.int64]]:
        """(states, places of the classes in `names`, texts) of the examples of these classes."""
        kept = [number for number, name in enumerate(self.names) if name in names]
        places = [names.index(self.names[number]) for number in kept]
        states = np.stack([self.states[number] for number in kept])
        texts = [self.texts[number] for number in kept]
        return states, np.array(places, np.int64), np.array(texts, np.int64)


@dataclass
class Examples:
    """The examples of all tasks, and the number of texts."""

    by_task: dict[str, TaskExamples]
    num_texts: int = 0


def read_examples(
    source: ModelAttention,
    model: torch.nn.Module,
    texts: Iterable[Any],
    tasks: Sequence[str],
    most: int,
    seed: int,
) -> Examples:
    """Read texts until each task has its examples.

    Args:
        source: what reads texts in batches.
        model: the model of the source, or one of the same architecture.
        most: the most examples of a task.

    Raises:
        TypeError, ValueError: see `layers`.
    """
    found = Examples({task: TaskExamples() for task in tasks})
    for batch, own in source.batches(texts):
        members = source.members(batch, own)
        for row, (text, states) in enumerate(zip(own, _states(model, batch), strict=True)):
            index = batch.texts[row].index
            found.num_texts += 1
            sizes = members[row].sum(axis=1, keepdims=True).clip(1)
            words = (members[row] / sizes) @ states
            for task, examples in found.by_task.items():
                # The same examples for a model and its null.
                random = np.random.default_rng([seed, index])
                for spans, name in TASKS[task](text, random):
                    if len(examples.names) < most:
                        means = [words[:, start:end].mean(axis=1) for start, end in spans]
                        examples.states.append(np.concatenate(means, axis=1).astype(np.float16))
                        examples.names.append(name)
                        examples.texts.append(index)
            step_done()
        if all(len(examples.names) == most for examples in found.by_task.values()):
            break
    return found


def _states(model: torch.nn.Module, batch: TextBatch) -> list[Floats]:
    """The hidden states of each text, float32 [layers + 1, tokens, dimensions]."""
    with undisturbed(model):
        output = model(**{**batch.tensors, "output_hidden_states": True})
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
