"""Copying: a head that makes the tokens which it attends to more likely to follow."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.capture.items import Items
from attnwidget.capture.model import is_encoder_decoder
from attnwidget.capture.recorder import Check, RecordedCalls, record_pass
from attnwidget.record import Floats, Layer

from .batches import TextBatch
from .circuits import table
from .measurement import Place


def copying(model: torch.nn.Module, batch: TextBatch) -> dict[Place, dict[int, Numbers]]:
    """Share of attention on tokens whose own logit the head raises: .5 by chance.

    Σj w[i, j] c[j], the mean over queries i, from 0 to 1, on random tokens: c[j] is 1 if the value
    of token j, through the head's output projection and the unembedding, gives token j more than
    the mean logit, else 0; without the model's last normalisation. After Olsson et al. 2022,
    "In-context Learning and Induction Heads", who divide the amounts by which logits are raised.

    Returns:
        By place, by text, float64 [heads]. Layers without known values or output projection, and
        models without an unembedding, have none.
    """
    unembedding = table(model, "get_output_embeddings")
    if unembedding is None:
        return {}
    unembedding = unembedding - unembedding.mean(axis=0)
    two = is_encoder_decoder(model)
    items = [Items(row, two=two) for row in batch.rows]
    sink = RecordedCalls()
    record_pass(
        model,
        lambda: model(**batch.tensors),
        lambda module: [item for each in items for item in each.of(module)],
        sink,
        wanted=lambda module: True,
        values=True,
        check=Check.FIRST_TEXT,
    )
    ids = batch.tensors["input_ids"].cpu().numpy()
    found: dict[Place, dict[int, Numbers]] = {}
    for call in sink.calls:
        place = Place(call.address.module, call.address.call)
        for text, row, layer in zip(batch.texts, ids, call.layers, strict=False):
            raised = _raised(layer, row, unembedding)
            if raised is not None:
                found.setdefault(place, {})[text.index] = _share(layer, raised)
    return found


def _raised(layer: Layer, ids: NDArray[np.int64], unembedding: Floats) -> NDArray[np.bool_] | None:
    """True where a head raises the logit of a key's token, bool [heads, Tk]."""
    values, projection = layer.values, layer.projection
    if values is None or projection is None or values.shape[1] != len(ids):
        return None
    if projection.shape[2] != unembedding.shape[1]:
        return None
    values = np.repeat(values, layer.num_heads // len(values), axis=0)
    written = np.einsum("hkv,hvd->hkd", values, projection, optimize=True)
    raised: NDArray[np.bool_] = np.einsum("hkd,kd->hk", written, unembedding[ids]) > 0
    return raised


def _share(layer: Layer, raised: NDArray[np.bool_]) -> Numbers:
    weights = layer.all_weights(np.arange(layer.shape[0]))
    shares: Numbers = np.einsum("hqk,hk->h", weights, raised, dtype=np.float64) / layer.shape[0]
    return shares
