"""The steps from a model and a text to the outputs of its heads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from attnwidget.record import Floats
from attnwidget.running.inputs import prepare
from attnwidget.running.model import traceable
from attnwidget.tracing import Address, Read, trace, undisturbed

from .head_outputs import HeadOutputs
from .sites import SiteFinder, named_sites


def read_outputs(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None,
    target: str | None,
) -> HeadOutputs:
    """See `attnwidget.head_outputs`."""
    model = traceable(model)
    inputs = prepare(model, tokenizer, text, text_pair, target, 0)
    reader = _Reader()
    with undisturbed(model), trace(model, reader, inputs.batch.size):
        model(**inputs.tensors)
    sites = named_sites(model, reader, inputs.batch.size)
    layers: dict[str, dict[int, Floats]] = {}
    for site in sites.found:
        layers.setdefault(site.stack, {})[site.layer] = reader.outputs[site.module, site.call]
    return HeadOutputs(layers, sites.missing)


class _Reader(SiteFinder):
    """Keeps the outputs of all heads."""

    def __init__(self) -> None:
        super().__init__()
        self.outputs: dict[tuple[str, int], Floats] = {}

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        super().attention(address, read)
        try:
            output = read().passed_on
        except ValueError:  # which the finder has noted
            return None
        if output is not None:
            kept: Floats = output.detach().to("cpu", torch.float32, copy=True).numpy()
            self.outputs[address.module, address.call] = kept
        return None
