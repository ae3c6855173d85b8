"""The outputs of all heads, read from a pass of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from attnwidget.record import Floats
from attnwidget.running.inputs import prepare
from attnwidget.running.model import run, traceable
from attnwidget.tracing import Address, Call, CallId, MixingCall, trace, undisturbed

from .by_layer import HeadOutputs
from .sites import SiteFinder


def head_outputs(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    target: str | None = None,
) -> HeadOutputs:
    """Run a model, and keep the outputs of all heads, for `Patch`.

    A text's outputs in another one of as many tokens::

        clean = aw.head_outputs(model, tokenizer, "Mary gave John the book")
        with aw.intervene(model, aw.Patch(clean, layers=18, heads=6)):
            logits = model(**tokenizer("Mary gave Paul the book", return_tensors="pt")).logits

    Args:
        model, tokenizer, text, text_pair, target: see `attnwidget.capture`. All texts of a batch
            are kept.

    Raises:
        TypeError, ValueError: see `attnwidget.capture`.
    """
    model = traceable(model)
    inputs = prepare(model, tokenizer, text, text_pair, target, 0)
    reader = _Reader()
    with undisturbed(model), trace(model, reader, inputs.batch.size):
        run(model, inputs.tensors)
    sites = reader.sites(model, inputs.batch.size)
    layers: dict[str, dict[int, Floats]] = {}
    for site in sites.found:
        of_calls = [reader.outputs[each] for each in site.ids]
        outputs = of_calls[0] if len(of_calls) == 1 else np.concatenate(of_calls, axis=1)
        layers.setdefault(site.stack, {})[site.layer] = outputs
    return HeadOutputs(layers, sites.missing)


class _Reader(SiteFinder):
    """Keeps the outputs of all heads."""

    def __init__(self) -> None:
        super().__init__()
        self.outputs: dict[CallId, Floats] = {}

    def found(self, address: Address, call: Call | MixingCall | None) -> None:
        if call is not None and call.passed_on is not None:
            kept: Floats = call.passed_on.detach().to("cpu", torch.float32, copy=True).numpy()
            self.outputs[CallId(address.module, address.call)] = kept
