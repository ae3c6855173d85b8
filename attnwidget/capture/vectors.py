"""The queries and keys of an attention call, as the model has them."""

from __future__ import annotations

import torch

from attnwidget.running.items import Selection
from attnwidget.tracing import Call, FunctionCall


def call_vectors(call: Call, selection: Selection) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The selected queries [windows, heads, Tq, d] and keys [windows, key heads, Tk, d], or None.

    A softmax may have been computed of other things than queries and keys; then there are none.
    """
    if isinstance(call, FunctionCall):
        queries, keys = call.query[selection.windows], call.key[selection.windows]
    else:
        scores, shape = call.scores, call.weights.shape
        if scores is None or not call.logits.shape == scores.index.shape == shape:
            return None
        scores = scores.oriented()
        if scores.key.shape[-2] != shape[-1]:
            return None
        index = call.layout.apply(scores.index)[selection.windows][..., 0]
        vectors = scores.vectors(index)
        if vectors is None:
            return None
        queries, keys = vectors
    rows, columns = (of.to(queries.device) for of in (selection.queries, selection.keys))
    return queries[:, :, rows], keys[:, :, columns]
