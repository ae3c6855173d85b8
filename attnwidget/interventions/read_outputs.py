"""Readings of a place in all layers, from a pass of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, get_args

import numpy as np
import torch

from attnwidget.arguments import checked, one_of
from attnwidget.counted import counted
from attnwidget.record import Floats
from attnwidget.running.batches import text_batches
from attnwidget.running.forward import run_model
from attnwidget.running.inputs import prepare
from attnwidget.running.model import run, traceable
from attnwidget.running.texts import Texts
from attnwidget.tracing import Address, Call, CallId, MixingCall, trace, undisturbed

from .by_layer import HeadOutputs, Place
from .edits import without_heads
from .layer_places import Here, Streams
from .sites import Site, SiteFinder, sites_by_name, usual_stacks
from .substitution import read_at

_PLACES = one_of(*get_args(Place))


@checked(at=_PLACES)
def head_outputs(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    target: str | None = None,
    at: Place = "head",
) -> HeadOutputs:
    """Run a model, and keep the outputs of all heads, or what is at another place, for `Patch`.

    A text's outputs in another one of as many tokens::

        clean = aw.head_outputs(model, tokenizer, "Mary gave John the book")
        with aw.intervene(model, aw.Patch(clean, layers=18, heads=6)):
            logits = model(**tokenizer("Mary gave Paul the book", return_tensors="pt")).logits

    Args:
        model, tokenizer, text, text_pair, target: see `attnwidget.capture`. All texts of a batch
            are kept.
        at: the place, see `Ablate`; not "projection". Of a stream of layers, those of every stack
            that has them are kept.

    Raises:
        TypeError, ValueError: see `attnwidget.capture`; or the model has no such place.
    """
    model = traceable(model)
    inputs = prepare(model, tokenizer, text, text_pair, target, 0)
    with undisturbed(model):
        return read_pass(model, at, inputs.batch.size, lambda: run(model, inputs.tensors))


@checked(at=_PLACES)
def mean_outputs(
    model: torch.nn.Module,
    tokenizer: Any,
    texts: Texts,
    *,
    at: Place = "head",
    by_position: bool = False,
) -> HeadOutputs:
    """Run a model on texts, and keep the mean of what is at a place, for `Ablate(over=...)`.

    Args:
        model, tokenizer, texts: see `attnwidget.profile`. They are run one by one.
        at: see `head_outputs`.
        by_position: True for a mean at each position, of texts of as many tokens; False for one
            mean over all tokens.

    Raises:
        TypeError, ValueError: see `attnwidget.profile` and `head_outputs`; or the texts are not of
            as many tokens.
    """
    model = traceable(model)
    if at == "weights" and not by_position:
        raise ValueError("weights are of positions: give by_position=True")
    totals: dict[tuple[str, int], tuple[np.ndarray[Any, Any], int]] = {}
    read: HeadOutputs | None = None
    count = 0
    for batch in text_batches(model, tokenizer, texts, 1, None):
        with undisturbed(model):
            read = read_pass(model, at, 1, partial(run_model, model, batch))
        count += 1
        for stack, layers in read.layers.items():
            for layer, outputs in layers.items():
                own = outputs.mean(axis=0, keepdims=True, dtype=np.float64)
                number = 1
                if not by_position:
                    own, number = own.sum(axis=2, keepdims=True), own.shape[2]
                total, before = totals.get((stack, layer), (np.zeros_like(own), 0))
                if total.shape != own.shape:
                    raise ValueError(
                        f"text {count - 1} has {own.shape[2]} tokens, and those before "
                        f"{total.shape[2]}: a mean by position is of texts of as many tokens"
                    )
                totals[stack, layer] = total + own, before + number
    if read is None:
        raise ValueError("there are no texts")
    means: dict[str, dict[int, Floats]] = {}
    for (stack, layer), (total, number) in totals.items():
        means.setdefault(stack, {})[layer] = (total / number).astype(np.float32)
    over = f"{counted(count, 'text')}{', by position' if by_position else ''}"
    return HeadOutputs(means, read.missing, at, over)


def read_pass(
    model: torch.nn.Module,
    at: Place,
    rows: int,
    run_it: Callable[[], Any],
    *,
    sites: Sequence[Site] | None = None,
    stack: str | None = None,
) -> HeadOutputs:
    """The numbers at a place of all layers in a pass.

    Args:
        rows: the number of texts.
        run_it: runs the model, which is undisturbed.
        sites: its attention calls, of a stream of layers; None for those by the names of modules.
        stack: the stack of a stream of layers; None for all.

    Raises:
        ValueError: the model has no such place.
    """
    if without_heads(at):
        return _read_streams(model, at, run_it, sites or sites_by_name(model), stack)
    if at == "projection":
        raise ValueError("what a projection receives is not kept: use at='head'")
    reader = _Reader(at)
    with trace(model, reader, rows):
        run_it()
    found = reader.sites(model, rows)
    layers: dict[str, dict[int, Floats]] = {}
    missing = list(found.missing)
    for site in found.found:
        of_calls = [reader.outputs[each] for each in site.ids if each in reader.outputs]
        if not of_calls:
            missing.append(f"{site.module}: {reader.refused.get(site.module, f'no {at}')}")
            continue
        outputs = of_calls[0] if len(of_calls) == 1 else np.concatenate(of_calls, axis=1)
        layers.setdefault(site.stack, {})[site.layer] = outputs
    if not layers:
        raise ValueError(f"the {at} of this model are not known: {missing[0]}")
    return HeadOutputs(layers, tuple(missing), at)


def _read_streams(
    model: torch.nn.Module,
    at: Place,
    run_it: Callable[[], Any],
    sites: Sequence[Site],
    stack: str | None,
) -> HeadOutputs:
    layers: dict[str, dict[int, Floats]] = {}
    streams = Streams(model, sites)

    def keep(stack: str, here: Here) -> torch.Tensor:
        layers.setdefault(stack, {})[here.layer] = _kept(here.own)
        return here.own

    for each in usual_stacks(sites) if stack is None else [stack]:
        streams.visit(at, each, None, partial(keep, each))
    with streams.following():
        run_it()
    streams.check_called()
    numbers_of = {} if at == "embedding" else streams.layers
    missing = [
        f"layer {number} of stack {stack!r}: it has no {at!r}"
        for stack, numbers in numbers_of.items()
        for number in numbers
        if number not in layers.get(stack, {})
    ]
    return HeadOutputs(layers, tuple(missing), at)


def _kept(tensor: torch.Tensor) -> Floats:
    kept: Floats = tensor.detach().to("cpu", torch.float32, copy=True).numpy()
    return kept


class _Reader(SiteFinder):
    """Keeps what is at a place of all calls."""

    def __init__(self, at: Place) -> None:
        super().__init__()
        self.outputs: dict[CallId, Floats] = {}
        self.refused: dict[str, str] = {}
        self._at = at

    def found(self, address: Address, call: Call | MixingCall | None) -> None:
        if call is None or call.passed_on is None:
            return
        own = call.passed_on
        if self._at != "head":
            if isinstance(call, MixingCall):
                return
            try:
                own = read_at(call, self._at)
            except ValueError as error:
                self.refused[address.module] = str(error)
                return
        self.outputs[address.id] = _kept(own)
