"""Conversion of attention functions' calls into layers, with score programs that are checked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import torch

from attnwidget.record import Fidelity, Layer, ScoreProgram
from attnwidget.running.items import Item, Selection, joined, shared_heads
from attnwidget.tracing import FunctionCall, SoftmaxCall
from attnwidget.tracing.masks import additive

from .check import CallCheck
from .explain_softmax import explain_softmax
from .masks import read_mask
from .recent import Recent
from .terms import Terms, terms


class FunctionExplainer:
    """Makes layers of the calls of one forward pass; reads a mask that layers share only once."""

    def __init__(self, *, values: bool, check: bool) -> None:
        self._values = values
        self._check = check
        self._known: Recent[Terms] = Recent()

    def layer(self, call: FunctionCall, item: Item, name: str) -> Layer:
        """The layer that this call computed.

        The layer has queries, keys and a score program if the program gives the weights of the
        model's own attention function and, with the values, its real output. If it does not, the
        softmaxes within that function are explained instead, if their error is smaller.

        Raises:
            ValueError: the mask cannot be read, or queries or keys hold NaN or infinity.
        """
        selection = item.select(len(call.query), (call.query.shape[-2], call.key.shape[-2]))
        terms = self._terms(call, item, selection)
        queries = joined(selection.cut(call.query, selection.queries))
        keys = joined(selection.cut(call.key, selection.keys))
        values = joined(selection.cut(call.value, selection.keys)) if self._values else None
        shared = min(shared_heads(a) for a in (keys, values) if a is not None)
        values = None if values is None else np.ascontiguousarray(values[::shared])
        program = _program(call, terms, queries.shape[-1])
        kept = Fidelity(call.route, name, "queries and keys", None, None, 0.0, 0)
        layer = Layer(queries, keys[::shared], program, None, kept, values=values)
        if not self._check:
            return layer
        check = CallCheck(call, selection)
        layer = replace(layer, fidelity=check.fidelity(layer))
        if layer.fidelity.exact is False and call.replay is not None:
            return min([layer, *_replayed(call, item, check, layer)], key=_error)
        return layer

    def _terms(self, call: FunctionCall, item: Item, selection: Selection) -> Terms:
        extra = call.options.get("position_bias")
        size = call.options.get("sliding_window") if call.options.get("flash") else None
        shapes = call.query.shape[:3], call.key.shape[-2]

        def read() -> Terms:
            return terms(*read_mask(call, selection), selection.count, selection.shape)

        return self._known.get((call.mask, extra, item), (call.causal, size, shapes), read)


def _replayed(call: FunctionCall, item: Item, check: CallCheck, layer: Layer) -> Iterator[Layer]:
    """Candidates of the layer, from the softmaxes within the model's explicit function."""
    others: list[Layer] = []
    masks = [additive(call)]
    if isinstance(call.mask, torch.Tensor) and call.mask.dtype == torch.bool:
        masks.append(call.mask)  # such a function may add it as it is, 0 and 1, and hide nothing
    for mask in masks:
        with suppress(Exception):  # the function does not take these inputs
            softmaxes = _softmaxes(call, mask)
            others += [explain_softmax(other, item, "") for other in softmaxes]
    for other in others:
        if other.num_heads != layer.num_heads or other.shape != layer.shape:
            continue
        if other.program is None:  # the function's arguments are still known
            other = replace(other, queries=layer.queries, keys=layer.keys)
        kept = replace(layer.fidelity, kept=other.fidelity.kept)
        other = replace(other, values=layer.values, fidelity=kept)
        yield replace(other, fidelity=check.fidelity(other))


def _softmaxes(call: FunctionCall, mask: torch.Tensor | None) -> list[SoftmaxCall]:
    assert call.replay is not None
    return call.replay(call.query, call.key, call.value, mask)


def _error(layer: Layer) -> float:
    errors = (layer.fidelity.weights_error, layer.fidelity.output_error)
    return max((e if np.isfinite(e) else np.inf for e in errors if e is not None), default=np.inf)


def _program(call: FunctionCall, terms: Terms, width: int) -> ScoreProgram:
    scale, softcap, sinks = (call.options.get(n) for n in ("scaling", "softcap", "s_aux"))
    if sinks is not None:
        sinks = sinks.detach().to("cpu", torch.float32).flatten().numpy().copy()
    return terms.program(
        float(scale) if scale is not None else width**-0.5,
        None if softcap is None else float(softcap),
        sinks,
    )
