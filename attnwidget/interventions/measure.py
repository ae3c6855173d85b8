"""The effect of heads that are off on the output for one text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch

from attnwidget.arguments import entries
from attnwidget.capture import capture
from attnwidget.record import AttentionRecord, Floats
from attnwidget.running.inputs import Inputs, prepare
from attnwidget.running.items import Batch
from attnwidget.running.labels import token_labels
from attnwidget.running.model import run, traceable, traits
from attnwidget.running.sequences import Sequences
from attnwidget.tracing import trace, undisturbed

from .by_layer import HeadOutputs
from .editor import editing
from .edits import Ablate, Mode, Patch, PlaceInLayer
from .effect import Effect, Softmax
from .sites import SiteFinder

_T = TypeVar("_T")


@dataclass(frozen=True)
class Output:
    """A model's output for the recorded item; see `Effect` for the attributes."""

    tokens: tuple[str, ...]
    logits: Floats | None
    states: Floats | None
    metric: float | None


def ablate(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    heads: Iterable[tuple[int, int]],
    stack: str | None = None,
    mode: Mode = "zero",
    at: PlaceInLayer = "head",
    source: HeadOutputs | None = None,
    target: str | None = None,
    batch_index: int = 0,
    metric: Callable[[Any], float] | None = None,
    record: bool = True,
) -> Effect:
    """Switch heads off, and measure the difference in the output of one text.

    Args:
        model, tokenizer, text, text_pair, target, batch_index: see `attnwidget.capture`.
        heads: (layer, head) of each head that is off.
        stack, mode, at: see `Ablate`.
        source: the outputs of another run (`head_outputs`) to replace them by, in place of `mode`
            and `at`: the heads are patched, as by `Patch`.
        metric: your own function from the model's output to a number.
        record: True to capture the attention before and after as well: later layers may attend
            elsewhere without these heads.

    Returns:
        The predictions, or the hidden states, before and after.

    Raises:
        TypeError, ValueError, IndexError: see `attnwidget.capture` and `intervene`; or the model
            returns neither logits nor hidden states, and there is no metric.
    """
    edits = [
        Ablate(layer, head, stack, mode, at)
        if source is None
        else Patch(source, layer, head, stack)
        for layer, head in _pairs(heads)
    ]
    model = traceable(model)
    inputs = prepare(model, tokenizer, text, text_pair, target, batch_index)

    def captured() -> AttentionRecord | None:
        if not record:
            return None
        return capture(
            model, tokenizer, text, text_pair, target=target, batch_index=batch_index, image=False
        )

    finder = SiteFinder()
    with trace(model, finder, inputs.batch.size):
        before = _output(model, inputs, metric)
    sites = finder.sites(model, inputs.batch.size)
    record_before = captured()
    with editing(model, edits, sites.found):
        after, record_after = _output(model, inputs, metric), captured()
    return effect_between(
        before, after, labels(model, tokenizer, before), _both(record_before, record_after)
    )


def _pairs(heads: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    given = entries("heads", heads, "(layer, head) pairs, as [(1, 5)]")
    try:
        return [(layer, head) for layer, head in given]
    except (TypeError, ValueError):
        raise TypeError(
            f"heads is {heads!r:.100}; expected (layer, head) pairs, as [(1, 5)]"
        ) from None


def effect_between(
    before: Output,
    after: Output,
    label: Callable[[int], str],
    record: tuple[AttentionRecord, AttentionRecord] | None = None,
    softmax: Softmax | None = None,
) -> Effect:
    """The effect of what changed between two outputs; `softmax` is that of the first, if known."""
    return Effect(
        before.tokens,
        _both(before.logits, after.logits),
        _both(before.states, after.states),
        _both(before.metric, after.metric),
        record,
        label,
        softmax,
    )


def _both(before: _T | None, after: _T | None) -> tuple[_T, _T] | None:
    return None if before is None or after is None else (before, after)


def _output(
    model: torch.nn.Module, inputs: Inputs, metric: Callable[[Any], float] | None
) -> Output:
    with undisturbed(model):
        output = run(model, inputs.tensors)
    return read_output(model, output, inputs.batch, inputs.sequences, metric)


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
