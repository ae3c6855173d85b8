"""Copying: heads that make the tokens which they attend to more likely to follow."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import torch

from attnwidget.analysis import Numbers
from attnwidget.capture.weights import text_weights
from attnwidget.record import Floats
from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.running.items import Items
from attnwidget.running.model import is_encoder_decoder
from attnwidget.tracing import Address, CallId, Handler, Read, trace, undisturbed

from .projections import Projections, values_of

CopyShares: TypeAlias = dict[CallId, dict[int, Numbers]]
"""By place, by text, float64 [heads]."""


def copying(model: torch.nn.Module, batch: TextBatch, projections: Projections) -> CopyShares:
    """Share of attention on tokens whose own logit the head raises: .5 by chance.

    Σj w[i, j] c[j], the mean over queries i, from 0 to 1, on random tokens: c[j] is 1 if the value
    of token j, through the head's output projection and the unembedding, gives token j more than
    the mean logit, else 0; without the model's last normalisation. After Olsson et al. 2022,
    "In-context Learning and Induction Heads", who divide the amounts by which logits are raised.

    Returns:
        The shares. Layers without known values or output projection, and
        models without an unembedding, have none.
    """
    unembedding = _table(model, "get_output_embeddings")
    if unembedding is None:
        return {}
    ids = batch.tensors["input_ids"].cpu().numpy()
    # Only the tokens in the batch: [texts, tokens, d_model].
    raised_by = unembedding[ids] - unembedding.mean(axis=0)
    reader = _CopyReader(model, batch, projections, raised_by)
    with undisturbed(model), trace(model, reader, len(batch.texts), once=True):
        run_model(model, batch)
    return reader.shares


class _CopyReader(Handler):
    """Computes `copying` of every call whose output projection is known."""

    def __init__(
        self,
        model: torch.nn.Module,
        batch: TextBatch,
        projections: Projections,
        raised_by: Floats,
    ) -> None:
        self.shares: CopyShares = {}
        two = is_encoder_decoder(model)
        self._items = [Items(row, two=two) for row in batch.rows]
        self._texts = batch.texts
        self._writes = projections.writes
        self._raised_by = raised_by

    def attention(self, address: Address, read: Read) -> None:
        place = CallId(address.module, address.call)
        writes = self._writes.get(place)
        if writes is None or writes.shape[2] != self._raised_by.shape[2]:
            return
        try:
            call = read()
            items = [item for each in self._items for item in each.of(address.module)]
            weights = text_weights(call, items, address.module)
            values = values_of(call)
        except ValueError:  # which `HeadProfile.missing` says
            return
        if values is None or values.shape[::2] != self._raised_by.shape[:2]:
            return
        found = values.detach().to("cpu", torch.float32).numpy()
        for text, own, value, directions in zip(
            self._texts, weights, found, self._raised_by, strict=True
        ):
            value = np.repeat(value, len(writes) // len(value), axis=0)
            logits = np.einsum("hkv,hvd,kd->hk", value, writes, directions, optimize=True)
            share: Numbers = np.einsum("hqk,hk->h", own, logits > 0, dtype=np.float64)
            self.shares.setdefault(place, {})[text.index] = share / own.shape[1]


def copying_weights(model: torch.nn.Module, projections: Projections) -> dict[CallId, Numbers]:
    """Copying by eigenvalues: 1 if the head writes every token that it reads, -1 if it removes it.

    Σλ / Σ|λ| over the eigenvalues λ of W_E W_V W_O W_U: from a token's embedding, through the
    values of a head and the output projection, to the logits; from -1 to 1, without layer norms.
    Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".

    Returns:
        By place, float64 [heads]. Layers whose projections are not found, and models without an
        unembedding, have none.
    """
    embedding = _table(model, "get_input_embeddings")
    unembedding = _table(model, "get_output_embeddings")
    if embedding is None or unembedding is None or embedding.shape != unembedding.shape:
        return {}
    # From what a head writes to what it reads, if each logit is that of the token which is read.
    closing = unembedding.T @ embedding
    shares = {}
    for place, writes in projections.writes.items():
        reads = projections.reads.get(place)
        if reads is None or not writes.shape[2] == reads.shape[1] == len(closing):
            continue
        reads = np.repeat(reads, len(writes) // len(reads), axis=0)
        circuits = np.einsum("hvd,de,hew->hvw", writes, closing, reads, optimize=True)
        eigenvalues = np.linalg.eigvals(circuits.astype(np.float64))
        sums = np.abs(eigenvalues).sum(axis=1)
        share: Numbers = eigenvalues.sum(axis=1).real / np.where(sums > 0, sums, np.nan)
        shares[place] = share
    return shares


def _table(model: torch.nn.Module, name: str) -> Floats | None:
    """The matrix [tokens, d_model] of an embedding or unembedding; None if there is none.

    Args:
        name: of the model's method that returns it.
    """
    find = getattr(model, name, None)
    weight = getattr(find() if callable(find) else None, "weight", None)
    if not isinstance(weight, torch.Tensor) or weight.ndim != 2 or weight.is_meta:
        return None
    matrix: Floats = weight.detach().to("cpu", torch.float32).numpy()
    return matrix
