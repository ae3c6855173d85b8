"""The steps from a model and its inputs to a record."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from attnwidget.arguments import several_numbers
from attnwidget.record import AttentionRecord, Stack
from attnwidget.running.forward import run_inputs
from attnwidget.running.generation import generate as generated_by
from attnwidget.running.inputs import Inputs, prepare
from attnwidget.running.items import Items
from attnwidget.running.missing import missing_attention, no_attention
from attnwidget.running.model import name_of, traceable, traits
from attnwidget.running.sequences import PlacedTokens
from attnwidget.running.stacks import grouped, stacks
from attnwidget.tracing import can_generate, changes_of

from .patches import on_image, placed_tokens
from .picture import picture
from .recorder import RecordedCall, RecordedCalls, record_pass


def capture_record(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None,
    *,
    target: str | None,
    generate: Mapping[str, Any] | None,
    batch_index: int,
    layers: Iterable[int] | None,
    values: bool,
    with_image: bool,
) -> AttentionRecord:
    """See `attnwidget.capture`."""
    model = traceable(model)
    if generate is not None and not isinstance(generate, Mapping):
        raise TypeError('generate is a mapping of arguments, such as {"max_new_tokens": 20}')
    chosen = _numbers(layers)
    inputs = prepare(model, tokenizer, text, text_pair, target, batch_index)
    if generate is None and _must_generate(model, inputs):
        generate = {}
    replay = None
    if generate is None:
        read = _read(model, inputs, chosen, values=values, with_image=with_image)
    else:
        answer = generated_by(model, tokenizer, inputs, generate)
        failed: list[ValueError] = []
        for inputs in answer.ways:
            try:
                read = _read(model, inputs, chosen, values=values, with_image=with_image)
                replay = answer.replay(model, read.output)
                break
            except ValueError as error:
                failed.append(error)
        else:
            raise failed[0]
    missing = missing_attention(model, read.calls, read.called)
    if not read.stacks and not (chosen is not None and read.calls and not missing):
        raise ValueError(no_attention(model, missing))
    if inputs.cut_off is not None:
        missing.append(inputs.cut_off)
    if missing:
        shown = "; ".join(missing[:3]) + ("; ..." if len(missing) > 3 else "")
        warnings.warn(
            f"not in this record (see its `missing`): {shown}",
            stacklevel=_callers_level(),
        )
    kept = _with_layers(read.stacks, chosen)
    image = None
    if read.placed is not None and any(s.queries.patches or s.keys.patches for s in kept.values()):
        image = picture(inputs, tokenizer, read.placed.tokens)
    name = f"{name_of(model)} {' and '.join(changes_of(model))}".rstrip()
    return AttentionRecord(kept, model=name, missing=missing, image=image, replay=replay)


@dataclass(frozen=True)
class _Read:
    """A recorded pass.

    Attributes:
        calls: the attention calls.
        called: the names of all modules that ran.
        output: the model's output.
        stacks: the layers, by the names of their stacks.
        placed: the tokens of a tower with their places on the image, or None.
    """

    calls: list[RecordedCall]
    called: set[str]
    output: Any
    stacks: dict[str, Stack]
    placed: PlacedTokens | None


def _read(
    model: torch.nn.Module,
    inputs: Inputs,
    chosen: frozenset[int] | None,
    *,
    values: bool,
    with_image: bool,
) -> _Read:
    """Record one pass; a second one if module names do not number the chosen layers."""
    placed, sequences = None, inputs.sequences
    if with_image:
        placed = placed_tokens(model, inputs, lambda changed: run_inputs(model, changed))
    if placed is not None:
        sequences = on_image(model, inputs, sequences, placed)
    # If module names do not number the layers, all of them are needed to count them.
    for named in [chosen] if chosen is None else [chosen, None]:
        sink = RecordedCalls()
        ran = record_pass(
            model,
            lambda: run_inputs(model, inputs),
            Items(inputs.batch, two=traits(model).has_decoder).of,
            sink,
            wanted=_wanted(named),
            values=values,
        )
        layers = [(c.address.module, c.layers[0] if c.layers else None) for c in sink.calls]
        by_name = stacks(grouped(layers), sequences.tokens)
        if chosen is None or not 0 <= max(chosen) < len(sink.calls):
            break
        if chosen <= {n for stack in by_name.values() for n in stack.numbers}:
            break
    return _Read(sink.calls, ran.called, ran.output, by_name, placed)


def _must_generate(model: torch.nn.Module, inputs: Inputs) -> bool:
    """True if an encoder-decoder has no inputs for its decoder, but can generate them."""
    if inputs.has_target or not traits(model).has_decoder:
        return False
    return can_generate(model)


def _wanted(chosen: frozenset[int] | None) -> Callable[[str], bool]:
    """A filter of module names: True if any number in a name is that of a chosen layer."""

    def wanted(name: str) -> bool:
        numbers = {int(part) for part in name.split(".") if part.isdigit()}
        return chosen is None or not numbers or bool(numbers & chosen)

    return wanted


def _numbers(layers: Iterable[int] | None) -> frozenset[int] | None:
    numbers = several_numbers("layers", layers)
    return None if numbers is None else frozenset(numbers)


def _with_layers(by_name: dict[str, Stack], chosen: frozenset[int] | None) -> dict[str, Stack]:
    """The stacks with the chosen layers alone."""
    if chosen is None:
        return by_name
    kept = {
        name: replace(stack, layers=tuple(x for x in stack.layers if x.number in chosen))
        for name, stack in by_name.items()
    }
    absent = chosen - {number for stack in kept.values() for number in stack.numbers}
    if absent:
        raise IndexError(f"the model has no attention in layers {sorted(absent)}")
    return {name: stack for name, stack in kept.items() if stack.layers}


def _callers_level() -> int:
    """The stacklevel of the caller outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith("attnwidget."):
        frame, level = frame.f_back, level + 1
    return level
