"""Conversion of a model's own softmaxes into layers: a score program, or weights."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import torch

from attnwidget.record import Fidelity, Floats, Layer
from attnwidget.record.scores import MASKED, Bools
from attnwidget.running.items import Item, joined, shared_heads
from attnwidget.running.tolerance import largest_score, output_distance, tolerance
from attnwidget.tracing import SoftmaxCall, softmax_values

from .terms import terms
from .vectors import call_vectors

ROUTE = "softmax"
OF_MAPS = "sampling points"


def explain_softmax(call: SoftmaxCall, item: Item, name: str, *, values: bool = False) -> Layer:
    """The layer that this softmax computed.

    Scores are scale * q.k, perhaps capped, plus added terms, which are the difference to the
    softmax's input. If no product of queries and keys is known, or the program does not give the
    softmax's result, the layer keeps that result.

    Raises:
        ValueError: the weights or the vectors hold NaN or infinity.
    """
    softmax = _ItemSoftmax(call, item)
    dtype, rows = call.logits.dtype, softmax.weights.shape[1]
    route, output_error = ROUTE, None
    if call.maps and call.output is not None:
        route, dtype, output_error = OF_MAPS, call.output.dtype, softmax.output_error()
    arrays = softmax.vectors(values)
    plain = Layer(
        arrays.get("queries"),
        arrays.get("keys"),
        None,
        softmax.whole_weights(),
        Fidelity(route, name, "weights", softmax.lost, output_error, tolerance(dtype), rows),
        values=arrays.get("values"),
    )
    if not plain.fidelity.exact:
        return plain
    for noise in (64 * torch.finfo(dtype).eps, 0.0):
        layer = _with_program(softmax, plain, noise)
        if layer is None:
            break
        errors = [
            np.abs(layer.head_weights(head) - plain.head_weights(head)).max()
            for head in range(layer.num_heads)
        ]
        fidelity = replace(
            plain.fidelity,
            kept="queries and keys",
            weights_error=float(np.max(errors)),
            tolerance=tolerance(dtype, largest_score(layer)),
        )
        if fidelity.exact:
            return replace(layer, fidelity=fidelity)
    return plain


def _with_program(softmax: _ItemSoftmax, plain: Layer, noise: float) -> Layer | None:
    """The layer as queries, keys and a score program, or None if there is no such program."""
    if plain.queries is None or plain.keys is None:
        return None
    scale, softcap = softmax.scale(), softmax.softcap()
    if scale is None:
        return None
    keys = np.repeat(plain.keys, plain.num_heads // len(plain.keys), axis=0)
    # Queries are multiplied with the keys of their own window.
    count = softmax.selection.count
    queries, keys = (a.reshape(len(a), count, -1, a.shape[2]) for a in (plain.queries, keys))
    product = np.matmul(queries, keys.swapaxes(2, 3))
    product = product.reshape(len(product), -1, product.shape[3])
    product *= np.asarray(scale, np.float32).reshape(-1, 1, 1)
    if softcap is not None:
        product = np.float32(softcap) * np.tanh(product / np.float32(softcap))
    seen = softmax.seen()
    with np.errstate(invalid="ignore"):  # -inf where masked
        bias = np.where(seen, softmax.logits - product, 0).astype(np.float32)
    limit = noise * max(1.0, float(np.abs(product).max(initial=0)))
    program = terms(seen, bias, count, softmax.shape, limit)
    program = replace(program, scale=scale if len(scale) > 1 else scale[0], softcap=softcap)
    return replace(plain, program=program, weights=None)


def _share(rows: Floats, kept: Floats) -> float:
    """The largest part of rows that is not in the columns that were kept."""
    return float(np.nan_to_num(rows.sum(axis=-1) - kept.sum(axis=-1)).max(initial=0))


class _ItemSoftmax:
    """The softmax of one item: arrays [heads, windows * tokens, ...] in float32."""

    def __init__(self, call: SoftmaxCall, item: Item) -> None:
        self.call = call
        weights = call.layout.apply(call.weights)
        self.selection = item.select(len(weights), (weights.shape[-2], weights.shape[-1]))
        self.shape = self.selection.shape
        self.logits = self._cut(call.layout.apply(call.logits))
        # Rows that see no key are NaN in some models, and zero here.
        self.blind = (self.logits == -np.inf).all(axis=-1, keepdims=True)
        self.weights: Floats = np.where(self.blind, np.float32(0), self._cut(weights))
        # The largest share of a query's attention that goes to padding.
        rows = joined(self.selection.cut(weights, self.selection.queries))
        self.lost = _share(rows, self.weights) if rows.shape[-1] > self.shape[1] else 0.0

    def _cut(self, tensor: torch.Tensor) -> Floats:
        """Cut [M, heads, all Tq, all Tk] to the item: float32 [heads, windows * Tq, Tk]."""
        rows = self.selection.cut(tensor, self.selection.queries)
        # Columns that belong to no key are kept.
        if rows.shape[-1] == self.call.weights.shape[-1] != self.shape[1]:
            rows = rows[..., self.selection.keys]
        return joined(rows)

    def whole_weights(self) -> Floats:
        """The weights as [heads, windows * Tq, windows * Tk]."""
        count = self.selection.count
        if count == 1:
            return self.weights
        heads, (queries, keys) = len(self.weights), self.shape
        whole = np.zeros((heads, count, queries, count, keys), np.float32)
        for window in range(count):
            rows = slice(window * queries, (window + 1) * queries)
            whole[:, window, :, window] = self.weights[:, rows]
        return whole.reshape(heads, count * queries, count * keys)

    def output_error(self) -> float:
        """The largest distance of weights . values to the output, relative to a head's values."""
        assert self.call.output is not None
        value = joined(self.selection.cut(softmax_values(self.call), self.selection.keys))
        output = joined(self.selection.cut(self.call.output, self.selection.queries))
        largest = np.maximum(np.abs(value).max(axis=(1, 2)), 1e-30)
        return float(output_distance(self.weights, value, largest, output).max())

    def seen(self) -> Bools:
        unseen = (self.logits < MASKED) & (self.weights == 0)
        seen: Bools = ~(unseen | np.isnan(self.logits) | self.blind)
        return seen

    def vectors(self, values: bool) -> dict[str, Floats]:
        """The known ones of queries, keys and, if asked for, values."""
        arrays: dict[str, Floats] = {}
        vectors = call_vectors(self.call, self.selection)
        if vectors is not None:
            queries, keys = (t.detach().to("cpu", torch.float32) for t in vectors)
            arrays = {"queries": joined(queries), "keys": joined(keys)}
        if values:
            with suppress(ValueError):  # they are not known
                value = softmax_values(self.call)
                arrays["values"] = joined(self.selection.cut(value, self.selection.keys))
        sharing = [shared_heads(arrays[name]) for name in ("keys", "values") if name in arrays]
        for name in ("keys", "values"):
            if name in arrays:
                arrays[name] = np.ascontiguousarray(arrays[name][:: min(sharing)])
        return arrays

    def scale(self) -> tuple[float, ...] | None:
        """The factor on all dot products, or one per head; None if factors differ within a head."""
        scores = self.call.scores
        assert scores is not None
        total = np.ones(1)
        for factor in scores.factors:
            if factor.shape[-2:] not in ((1, 1), (1,), ()):
                return None
            try:
                spread = self.call.layout.apply(factor.expand(self.call.logits.shape))
            except RuntimeError:
                return None
            per_head = spread[self.selection.windows, :, 0, 0].cpu().double().numpy()
            if not (per_head == per_head[:1]).all():
                return None
            total = total * per_head[0]
        if scores.capped is not None:
            if len(total) > 1:
                return None
            total = total * scores.capped
        return tuple(float(s) for s in total * scores.scale)

    def softcap(self) -> float | None:
        scores = self.call.scores
        return None if scores is None or scores.capped is None else scores.scale
