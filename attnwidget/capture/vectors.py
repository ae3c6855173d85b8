"""The queries and keys of an attention call, as the model has them."""

from __future__ import annotations

import torch

from attnwidget.running.items import Item
from attnwidget.tracing import Call, FunctionCall, SoftmaxCall


def softmax_vectors(call: SoftmaxCall, windows: slice) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Queries [windows, heads, Tq, d] and keys [windows, heads, Tk, d], with padding, or None."""
    scores, shape = call.scores, call.weights.shape
    if scores is None or not call.logits.shape == scores.index.shape == shape:
        return None
    scores = scores.oriented()
    if scores.key.shape[-2] != shape[-1]:
        return None
    return scores.vectors(call.layout.apply(scores.index)[windows][..., 0])


def call_vectors(call: Call, item: Item) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The item's queries [windows, heads, Tq, d] and keys [windows, key heads, Tk, d], or None."""
    selected = item.select(call.shape[0], (call.shape[2], call.shape[3]))
    if isinstance(call, FunctionCall):
        found = call.query[selected.windows], call.key[selected.windows]
    else:
        vectors = softmax_vectors(call, selected.windows)
        if vectors is None:
            return None
        found = vectors
    queries, keys = found
    rows, columns = (of.to(queries.device) for of in (selected.queries, selected.keys))
    return queries[:, :, rows], keys[:, :, columns]
