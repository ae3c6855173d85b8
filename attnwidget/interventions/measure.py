"""The effect of heads that are off on the output for one text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import torch

from attnwidget.arguments import head_pairs
from attnwidget.capture import capture
from attnwidget.record import AttentionRecord
from attnwidget.running.inputs import Inputs, prepare
from attnwidget.running.model import run, traceable
from attnwidget.tracing import trace, undisturbed

from .by_layer import HeadOutputs
from .editor import editing
from .edits import Ablate, Mode, Patch, PlaceInLayer
from .effect import Effect
from .sites import SiteFinder
from .text_output import Output, labels, read_output

_T = TypeVar("_T")


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

    The effect is that of all of them together, to which the effects of each alone need not add up:
    `attnwidget.ablation_scan` has those.

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
    pairs = head_pairs()("heads", heads)
    edits = [
        Ablate(layer, head, stack, mode, at)
        if source is None
        else Patch(source, layer, head, stack)
        for layer, head in pairs
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


def effect_between(
    before: Output,
    after: Output,
    label: Callable[[int], str],
    record: tuple[AttentionRecord, AttentionRecord] | None = None,
) -> Effect:
    """The effect of what changed between two outputs."""
    return Effect(
        before.tokens,
        _both(before.logits, after.logits),
        _both(before.states, after.states),
        _both(before.metric, after.metric),
        record,
        label,
    )


def _both(before: _T | None, after: _T | None) -> tuple[_T, _T] | None:
    return None if before is None or after is None else (before, after)


def _output(
    model: torch.nn.Module, inputs: Inputs, metric: Callable[[Any], float] | None
) -> Output:
    with undisturbed(model):
        output = run(model, inputs.tensors)
    return read_output(model, output, inputs.batch, inputs.sequences, metric)
