"""Layers out of softmaxes that a model writes out itself: a score program, or weights."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import torch

from attnwidget.record import Fidelity, Floats, Layer
from attnwidget.record.scores import MASKED, Bools
from attnwidget.tracing import SoftmaxCall

from .items import Item, joined, shared_heads
from .terms import terms
from .tolerance import largest_score, tolerance

ROUTE = "softmax"


def explain_softmax(call: SoftmaxCall, item: Item, name: str, *, values: bool = False) -> Layer:
    """The layer that this softmax computed.

    Scores are scale * q.k, perhaps capped, and what was added to that: the difference to what
    really went into the softmax. Where no product of queries and keys is behind it, or the
    program does not give its result, that result is kept.

    Raises:
        ValueError: the weights or the vectors hold NaN or infinity.
    """
    own = _ItemSoftmax(call, item)
    kept = Fidelity(
        ROUTE, name, "weights", None, None, tolerance(call.logits.dtype), own.weights.shape[1]
    )
    arrays = own.vectors(values)
    plain = Layer(
        arrays.get("queries"), arrays.get("keys"), None, own.in_place(),
        replace(kept, weights_error=0.0), values=arrays.get("values"),
    )  # fmt: skip
    for noise in (64 * torch.finfo(call.logits.dtype).eps, 0.0):
        layer = _with_program(own, plain, noise)
        if layer is None:
            break
        off = [
            np.abs(layer.head_weights(head) - plain.head_weights(head)).max()
            for head in range(layer.num_heads)
        ]
        fidelity = replace(
            kept,
            kept="queries and keys",
            weights_error=float(np.max(off)),
            tolerance=tolerance(call.logits.dtype, largest_score(layer)),
        )
        if fidelity.exact:
            return replace(layer, fidelity=fidelity)
    return plain


def _with_program(own: _ItemSoftmax, plain: Layer, noise: float) -> Layer | None:
    """The layer as queries, keys and a score program, or None if it is not that."""
    if plain.queries is None or plain.keys is None:
        return None
    scale, softcap = own.scale(), own.softcap()
    if scale is None:
        return None
    keys = np.repeat(plain.keys, plain.num_heads // len(plain.keys), axis=0)
    # Within each window, queries with its own keys.
    count = own.selection.count
    queries, keys = (a.reshape(len(a), count, -1, a.shape[2]) for a in (plain.queries, keys))
    product = np.matmul(queries, keys.swapaxes(2, 3))
    product = product.reshape(len(product), -1, product.shape[3])
    product *= np.asarray(scale, np.float32).reshape(-1, 1, 1)
    if softcap is not None:
        product = np.float32(softcap) * np.tanh(product / np.float32(softcap))
    seen = own.seen()
    with np.errstate(invalid="ignore"):  # -inf where masked
        bias = np.where(seen, own.logits - product, 0).astype(np.float32)
    limit = noise * max(1.0, float(np.abs(product).max(initial=0)))
    found = terms(seen, bias, count, own.shape, limit)
    program = found.program(scale if len(scale) > 1 else scale[0], softcap)
    return replace(plain, program=program, weights=None)


class _ItemSoftmax:
    """One item's softmax: arrays [heads, windows * tokens, ...] in float32."""

    def __init__(self, call: SoftmaxCall, item: Item) -> None:
        self.call = call
        weights = call.layout.apply(call.weights)
        self.selection = item.select(len(weights), (weights.shape[-2], weights.shape[-1]))
        self.shape = self.selection.shape
        own, self.logits = self._cut(weights), self._cut(call.layout.apply(call.logits))
        # A row that sees no key is NaN in some models, and zero here.
        self.blind = (self.logits == -np.inf).all(axis=-1, keepdims=True)
        self.weights: Floats = np.where(self.blind, np.float32(0), own)

    def _cut(self, tensor: torch.Tensor) -> Floats:
        """float32 [heads, windows * Tq, Tk] of [M, heads, all Tq, all Tk]."""
        own = self.selection.cut(tensor, self.selection.queries)
        # Columns that belong to no key stay.
        if own.shape[-1] == self.call.weights.shape[-1] != self.shape[1]:
            own = own[..., self.selection.keys]
        return joined(own)

    def in_place(self) -> Floats:
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

    def seen(self) -> Bools:
        unseen = (self.logits < MASKED) & (self.weights == 0)
        seen: Bools = ~(unseen | np.isnan(self.logits) | self.blind)
        return seen

    def vectors(self, values: bool) -> dict[str, Floats]:
        """Queries, keys and, if wanted, values, as far as they are known."""
        arrays: dict[str, Floats] = {}
        rows, columns = self.selection.queries, self.selection.keys
        vectors = self._followed()
        if vectors is not None:
            queries, keys = (t.detach().to("cpu", torch.float32) for t in vectors)
            arrays = {"queries": joined(queries[:, :, rows]), "keys": joined(keys[:, :, columns])}
        if values and self.call.value is not None:
            with suppress(ValueError):  # laid out otherwise, so not known
                own = self.call.layout.apply(self.call.value)
                arrays["values"] = joined(self.selection.cut(own, columns))
        sharing = [shared_heads(arrays[name]) for name in ("keys", "values") if name in arrays]
        for name in ("keys", "values"):
            if name in arrays:
                arrays[name] = np.ascontiguousarray(arrays[name][:: min(sharing)])
        return arrays

    def _followed(self) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Queries [windows, heads, Tq, d] and keys [windows, heads, Tk, d], with padding."""
        scores, shape = self.call.scores, self.call.weights.shape
        if scores is None or self.call.logits.shape != shape:
            return None
        if scores.index.shape != shape:
            return None
        scores = scores.oriented()
        if scores.key.shape[-2] != shape[-1]:
            return None
        return scores.vectors(self.call.layout.apply(scores.index)[self.selection.windows][..., 0])

    def scale(self) -> tuple[float, ...] | None:
        """The factor on all dot products, or on those of each head; None if it is neither."""
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
