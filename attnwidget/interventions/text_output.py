"""The part of a model's output that is of one text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch

from attnwidget.record import Floats
from attnwidget.running.items import Batch
from attnwidget.running.labels import token_labels
from attnwidget.running.model import traits
from attnwidget.running.sequences import Sequences


@dataclass(frozen=True)
class Output:
    """A model's output for the recorded item; see `Effect` for the attributes."""

    tokens: tuple[str, ...]
    logits: Floats | None
    states: Floats | None
    metric: float | None


def read_output(
    model: torch.nn.Module,
    output: Any,
    batch: Batch,
    sequences: Sequences,
    metric: Callable[[Any], float] | None = None,
) -> Output:
    """The part of a model's output that is of the recorded item.

    Raises:
        ValueError: the model returns neither logits nor hidden states, and there is no metric.
    """
    own = None if metric is None else float(metric(output))
    name = answer_of(output)
    if name is None:
        if own is None:
            raise no_answer(model)
        return Output((), None, None, own)
    of_item = getattr(output, name)[batch.index].detach().float().cpu()
    if of_item.ndim == 1:  # classes of the whole text
        return Output(("",), of_item[None].numpy(), None, own)
    kept, tokens = _positions(model, batch, sequences, len(of_item))
    numbers = of_item[kept].numpy()
    if name == "logits":
        return Output(tokens, numbers, None, own)
    return Output(tokens, None, numbers, own)


def answer_of(output: Any) -> Literal["logits", "last_hidden_state"] | None:
    """The field of a model's output that is its answer: predictions, or else hidden states."""
    logits, states = getattr(output, "logits", None), getattr(output, "last_hidden_state", None)
    if isinstance(logits, torch.Tensor) and logits.ndim in (2, 3):
        return "logits"
    return "last_hidden_state" if isinstance(states, torch.Tensor) and states.ndim == 3 else None


def no_answer(model: torch.nn.Module) -> ValueError:
    """The error of an output without either, where there is no metric."""
    return ValueError(
        f"{type(model).__name__} returns neither logits nor hidden states; give metric=, a "
        "function from its output to a number"
    )


def _positions(
    model: torch.nn.Module, batch: Batch, sequences: Sequences, length: int
) -> tuple[torch.Tensor, tuple[str, ...]]:
    """The positions of the output that are not padding, and their labels."""
    kept = kept_positions(model, batch, length)
    tokens = sequences.target if traits(model).has_decoder else sequences.text
    if tokens is None or len(tokens) != len(kept):
        return kept, tuple(str(position) for position in kept.tolist())
    return kept, tokens.labels


def kept_positions(model: torch.nn.Module, batch: Batch, length: int) -> torch.Tensor:
    """The positions of an output of this length that are not padding."""
    padded = batch.target if traits(model).has_decoder else batch.text
    if padded is None or padded.length != length:
        return torch.arange(length)
    return padded.kept


def labels(model: torch.nn.Module, tokenizer: Any, output: Output) -> Callable[[int], str]:
    """The labels of what a model predicts: classes, of a text or of each token, or tokens."""
    names = getattr(getattr(model, "config", None), "id2label", None) or {}
    if output.logits is not None and output.logits.shape[1] == len(names):
        return lambda number: str(names.get(number, number))
    if tokenizer is None or output.tokens == ("",):
        return str
    return lambda number: token_labels(tokenizer, [number])[0]
