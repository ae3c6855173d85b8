"""Copying: heads that make the tokens which they attend to more likely to follow.

A head's value and output projections are found by running the model over a text, and their modules
on unit vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch

from attnwidget.analysis import Numbers
from attnwidget.capture import text_weights
from attnwidget.record import Floats
from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.running.items import Items
from attnwidget.running.projection import linear_matrix, projections
from attnwidget.tracing import (
    Address,
    CallId,
    Handler,
    Read,
    Receivers,
    head_values,
    trace,
    undisturbed,
)

CopyShares: TypeAlias = dict[CallId, dict[int, Numbers]]
"""By call, by text, float64 [heads]."""


@dataclass(frozen=True)
class Projections:
    """The projections of each attention call, as far as they are found.

    Attributes:
        reads: from the residual stream to values, float32 [heads, d_model, d_v].
        writes: from the average of values to the residual stream, float32 [heads, d_v, d_model].
    """

    reads: dict[CallId, Floats]
    writes: dict[CallId, Floats]


def find_projections(model: torch.nn.Module, batch: TextBatch) -> Projections:
    """Find the projections of a model's attention calls, as it reads a batch of any texts."""
    finder = _Finder()
    with undisturbed(model):
        with trace(model, finder, len(batch.texts)):
            run_model(model, batch)
        writes = {CallId(a.module, a.call): m for a, m in projections(finder.receivers.by_call)}
        reads = {}
        for call, (module, received, columns) in finder.makers.items():
            matrix = linear_matrix(module, received)
            if matrix is not None:
                reads[call] = matrix.numpy()[:, columns].transpose(1, 0, 2)
    return Projections(reads, writes)


class _Finder(Handler):
    """Finds the modules that receive head outputs, and those that make values.

    Attributes:
        receivers: the modules that received head outputs.
        makers: by call, the module that made the values, what it received, and the columns of its
            output for each head: [heads, d_v].
    """

    def __init__(self) -> None:
        self.receivers = Receivers()
        self.makers: dict[CallId, tuple[torch.nn.Module, torch.Tensor, np.ndarray]] = {}
        # The input of each running module, and the modules that have run since the last call.
        self._received: dict[int, torch.Tensor] = {}
        self._recent: list[tuple[torch.nn.Module, torch.Tensor, torch.Tensor]] = []

    def attention(self, address: Address, read: Read) -> None:
        recent, self._recent = self._recent, []
        try:
            call = read()
            values = head_values(call)
        except ValueError:  # an unknown layout
            return
        if call.output is None:
            return
        self.receivers.expect(address, call.output)
        for module, received, output in reversed(recent):
            columns = _columns(output, values)
            if columns is not None:
                self.makers[address.id] = module, received, columns
                return

    def module_entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        self.receivers.module_entered(module, args)
        if len(args) == 1 and isinstance(args[0], torch.Tensor):
            self._received[id(module)] = args[0]

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        received = self._received.pop(id(module), None)
        if received is not None and isinstance(output, torch.Tensor) and output.ndim == 3:
            self._recent.append((module, received, output))


def _columns(output: torch.Tensor, values: torch.Tensor) -> np.ndarray | None:
    """The columns of a module's output [M, T, n] that are values [M, heads, T, d_v]; None if not.

    Values may lie in it in any order, as where one module makes queries, keys and values.
    """
    texts, _, tokens, width = values.shape
    if output.shape[:2] != (texts, tokens) or output.shape[2] < width:
        return None
    made = output.detach().flatten(0, 1).T.cpu().float().numpy()
    known = {column.tobytes(): number for number, column in enumerate(made)}
    wanted = values.detach().permute(1, 3, 0, 2).flatten(2).cpu().float().numpy()
    columns = np.array([[known.get(column.tobytes(), -1) for column in head] for head in wanted])
    return columns if (columns >= 0).all() else None


def copying(model: torch.nn.Module, batch: TextBatch, projections: Projections) -> CopyShares:
    """Share of attention on tokens whose own logit the head raises: .5 by chance.

    Σj w[i, j] c[j], the mean over queries i, from 0 to 1, on random tokens: c[j] is 1 if the value
    of token j, through the head's output projection and the unembedding, gives token j more than
    the mean logit, else 0; without the model's last normalisation. After Olsson et al. 2022,
    "In-context Learning and Induction Heads", who divide the amounts by which logits are raised.

    Returns:
        The shares. Layers without known values or output projection, and models without an
        unembedding, have none.
    """
    unembedding = _table(model, "get_output_embeddings")
    if unembedding is None:
        return {}
    ids = batch.tensors["input_ids"].cpu().numpy()
    # Only the tokens in the batch: [texts, tokens, d_model].
    reader = _CopyReader(model, batch, projections, unembedding[ids] - unembedding.mean(axis=0))
    with undisturbed(model), trace(model, reader, len(batch.texts)):
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
        self._items = [Items(model, row) for row in batch.rows]
        self._texts = batch.texts
        self._writes = projections.writes
        self._raised_by = raised_by

    def attention(self, address: Address, read: Read) -> None:
        call_id = address.id
        writes = self._writes.get(call_id)
        if writes is None or writes.shape[2] != self._raised_by.shape[2]:
            return
        try:
            call = read()
            items = [each.of(call_id) for each in self._items]
            weights = text_weights(call, items, address.module)
            values = head_values(call).detach().to("cpu", torch.float32).numpy()
        except ValueError:  # which `HeadProfile.missing` says
            return
        if values.shape[::2] != self._raised_by.shape[:2]:
            return
        for text, own, value, directions in zip(
            self._texts, weights, values, self._raised_by, strict=True
        ):
            logits = np.einsum("hkv,hvd,kd->hk", value, writes, directions, optimize=True)
            share: Numbers = np.einsum("hqk,hk->h", own, logits > 0, dtype=np.float64)
            self.shares.setdefault(call_id, {})[text.index] = share / own.shape[1]


def copying_weights(model: torch.nn.Module, projections: Projections) -> CopyShares:
    """Copying by eigenvalues: 1 if the head writes every token that it reads, -1 if it removes it.

    Σλ / Σ|λ| over the eigenvalues λ of W_E W_V W_O W_U: from a token's embedding, through the
    values of a head and the output projection, to the logits; from -1 to 1, without layer norms.
    Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".

    Returns:
        By call, as of a single text. Layers whose projections are not found, and models without an
        unembedding, have none.
    """
    embedding = _table(model, "get_input_embeddings")
    unembedding = _table(model, "get_output_embeddings")
    if embedding is None or unembedding is None or embedding.shape != unembedding.shape:
        return {}
    # From what a head writes to what it reads, if each logit is that of the token which is read.
    closing = unembedding.T @ embedding
    shares: CopyShares = {}
    for call, writes in projections.writes.items():
        reads = projections.reads.get(call)
        if reads is not None and writes.shape[2] == reads.shape[1] == len(closing):
            circuits = np.einsum("hvd,de,hew->hvw", writes, closing, reads, optimize=True)
            eigenvalues = np.linalg.eigvals(circuits.astype(np.float64))
            sums = np.abs(eigenvalues).sum(axis=1)
            shares[call] = {0: eigenvalues.sum(axis=1).real / np.where(sums > 0, sums, np.nan)}
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
