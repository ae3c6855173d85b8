"""A call of an attention function becomes a layer: a score program, checked against the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attnwidget.record import Fidelity, Layer, ScoreProgram

from .calls import FunctionCall
from .heads import shared_heads
from .item import Item
from .masks import read_mask
from .part import Part
from .terms import Terms, terms


class FunctionExplainer:
    """Makes layers of the calls of one forward pass, in which layers often share their mask."""

    def __init__(self, values: bool, followed: Callable[[FunctionCall, Item], list[Layer]]) -> None:
        self._values = values
        self._followed = followed
        self._known: tuple[Any, Terms] | None = None

    def layer(self, call: FunctionCall, item: Item, name: str) -> Layer:
        """The layer that this call computed.

        Queries and keys with a score program are kept where the program gives the weights of
        the model's own attention function and, through the values, its real output. Where it
        does not, what that function does is followed instead, if this comes closer.

        Raises:
            ValueError: the mask cannot be read, or queries or keys hold NaN or infinity.
        """
        part = Part(call, item)
        terms = self._terms(call, item, part)
        queries, keys = part.joined(call.query), part.joined(call.key)
        values = part.joined(call.value) if self._values else None
        shared = min(shared_heads(a) for a in (keys, values) if a is not None)
        values = None if values is None else np.ascontiguousarray(values[::shared])
        program = _program(call, terms, queries.shape[-1])
        kept = Fidelity(call.route, name, "queries and keys", None, None, 0.0, 0)
        layer = Layer(queries, keys[::shared], program, None, kept, values=values)
        layer = replace(layer, fidelity=part.fidelity(layer))
        if layer.fidelity.exact is False and call.replay is not None:
            return min([layer, *self._others(call, item, part, layer)], key=_error)
        return layer

    def _others(self, call: FunctionCall, item: Item, part: Part, layer: Layer) -> Iterator[Layer]:
        """The layer as the model's own explicit function computes it."""
        try:
            followed = self._followed(call, item)
        except Exception:  # it does not take these inputs, so there is nothing to compare with
            return
        for other in followed:
            if other.num_heads != layer.num_heads or other.shape != layer.shape:
                continue
            if other.program is None:  # what entered the function is known all the same
                other = replace(other, queries=layer.queries, keys=layer.keys)
            kept = replace(layer.fidelity, kept=other.fidelity.kept)
            other = replace(other, values=layer.values, fidelity=kept)
            yield replace(other, fidelity=part.fidelity(other))

    def _terms(self, call: FunctionCall, item: Item, part: Part) -> Terms:
        extra = call.options.get("position_bias")
        # The objects themselves, not their identities: those are given anew once they are gone.
        size = call.options.get("sliding_window") if call.options.get("flash") else None
        shapes = call.query.shape[:3], call.key.shape[-2]
        key = (call.mask, extra, call.causal, size, shapes, item)
        if self._known is not None and _same(self._known[0], key):
            return self._known[1]
        found = terms(*read_mask(call, item), part.groups, part.shape)
        self._known = (key, found)
        return found


def _same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return a[0] is b[0] and a[1] is b[1] and a[2:-1] == b[2:-1] and a[-1] is b[-1]


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
