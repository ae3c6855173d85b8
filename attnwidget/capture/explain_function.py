"""Conversion of attention functions' calls into layers, with score programs that are checked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import torch

from attnwidget.record import Fidelity, Floats, Layer, ScoreProgram
from attnwidget.record.scores import MASKED, Bools
from attnwidget.running.items import Item, Selection, joined, shared_heads
from attnwidget.tracing import FunctionCall
from attnwidget.tracing.masks import additive, causal_mask, dense_mask

from .check import CallCheck
from .explain_softmax import explain_softmax
from .terms import terms

# More kinds of layers than models alternate between.
_RECENT = 4


class FunctionExplainer:
    """Makes layers of the calls of one forward pass; reads a mask that layers share only once."""

    def __init__(self, *, values: bool, check: bool) -> None:
        self._values = values
        self._check = check
        # The latest terms, by arguments that are the same objects and by values that are equal. The
        # objects themselves are held, because ids of freed objects may be reused.
        self._known: list[tuple[tuple[object, ...], object, ScoreProgram]] = []

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
        if layer.fidelity.exact is False:
            return min([layer, *_recomputed(call, item, check, layer)], key=_error)
        return layer

    def _terms(self, call: FunctionCall, item: Item, selection: Selection) -> ScoreProgram:
        extra = call.options.get("position_bias")
        size = call.options.get("sliding_window") if call.options.get("flash") else None
        objects = call.mask, extra, item
        values = call.causal, size, call.query.shape[:3], call.key.shape[-2]
        for same, equal, known in self._known:
            if equal == values and all(a is b for a, b in zip(same, objects, strict=True)):
                return known
        found = terms(*read_mask(call, selection), selection.count, selection.shape)
        self._known = [(objects, values, found), *self._known[: _RECENT - 1]]
        return found


def _recomputed(call: FunctionCall, item: Item, check: CallCheck, layer: Layer) -> Iterator[Layer]:
    """Candidates of the layer, from the softmaxes within the model's explicit function."""
    if call.recompute is None:
        return
    others: list[Layer] = []
    masks = [additive(call)]
    if isinstance(call.mask, torch.Tensor) and call.mask.dtype == torch.bool:
        masks.append(call.mask)  # such a function may add it as it is, 0 and 1, and hide nothing
    for mask in masks:
        with suppress(Exception):  # the function does not take these inputs
            softmaxes = call.recompute(call.query, call.key, call.value, mask)
            others += [explain_softmax(other, item, "") for other in softmaxes]
    for other in others:
        if other.num_heads != layer.num_heads or other.shape != layer.shape:
            continue
        if other.program is None:  # the function's arguments are still known
            other = replace(other, queries=layer.queries, keys=layer.keys)
        kept = replace(layer.fidelity, kept=other.fidelity.kept)
        other = replace(other, values=layer.values, fidelity=kept)
        yield replace(other, fidelity=check.fidelity(other))


def _error(layer: Layer) -> float:
    errors = (layer.fidelity.weights_error, layer.fidelity.output_error)
    return max((e if np.isfinite(e) else np.inf for e in errors if e is not None), default=np.inf)


def _program(call: FunctionCall, terms: ScoreProgram, width: int) -> ScoreProgram:
    """The terms with the scale, the softcap and the sinks of a call."""
    scale, softcap, sinks = (call.options.get(n) for n in ("scaling", "softcap", "s_aux"))
    if sinks is not None:
        sinks = sinks.detach().to("cpu", torch.float32).flatten().numpy().copy()
    return replace(
        terms,
        scale=float(scale) if scale is not None else width**-0.5,
        softcap=None if softcap is None else float(softcap),
        sinks=sinks,
    )


def read_mask(call: FunctionCall, selection: Selection) -> tuple[Bools | None, Floats | None]:
    """(seen, bias) of one item without its padding, as `terms` takes them.

    Raises:
        ValueError: the mask has an unknown form.
    """
    tensor = dense_mask(call)
    bias = None if tensor is None or tensor.dtype == torch.bool else tensor
    seen = tensor if bias is None else bias > MASKED
    if (extra := call.options.get("position_bias")) is not None:
        bias = extra if bias is None else bias + extra
    causal = causal_mask(call) if call.causal else None
    if causal is not None:
        seen = causal if seen is None else seen & causal
    return (
        None if seen is None else _cut(seen, call, selection),
        None if bias is None else _cut(bias.float().nan_to_num(0, 0, 0), call, selection),
    )


def _cut(tensor: torch.Tensor, call: FunctionCall, selection: Selection) -> np.ndarray:
    """Cut [1 or M, 1 or heads, Tq, Tk] of a call to [1 or heads, R, Tk] of an item."""
    leading, shape = len(call.query), (call.query.shape[-2], call.key.shape[-2])
    tensor = tensor.detach().cpu()
    tensor = tensor.expand(*tensor.shape[:2], *shape)
    if len(tensor) == leading:
        tensor = tensor[selection.windows]
    elif len(tensor) > 1:
        raise ValueError(f"its mask is of shape {list(tensor.shape)}, for {leading} inputs")
    if len(tensor) > 1:  # one mask per window
        array: np.ndarray = tensor.movedim(1, 0).flatten(1, 2).numpy()
        return array
    whole: np.ndarray = tensor[0].numpy()
    if selection.shape == shape:
        return whole
    return whole[:, selection.queries.numpy()][:, :, selection.keys.numpy()]
