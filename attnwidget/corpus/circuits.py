"""Copying by the weights of a model: what its heads write about any token, without a text."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from attnwidget.analysis import Numbers
from attnwidget.capture.projection import linear_matrix, projections
from attnwidget.record import Floats
from attnwidget.tracing import Address, Handler, Read, Receivers, trace, undisturbed

from .batches import TextBatch
from .measurement import Place


def copying_weights(model: torch.nn.Module, batch: TextBatch) -> dict[Place, Numbers]:
    """Copying by eigenvalues: 1 if the head writes every token that it reads, -1 if it removes it.

    Σλ / Σ|λ| over the eigenvalues λ of W_E W_V W_O W_U: from a token's embedding, through the
    values of a head and the output projection, to the logits; from -1 to 1, without layer norms.
    Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".

    Args:
        batch: any texts; the model runs over them to find its value and output projections.

    Returns:
        By place, float64 [heads]. Layers whose projections are not found, and models without an
        unembedding, have none.
    """
    embedding = table(model, "get_input_embeddings")
    unembedding = table(model, "get_output_embeddings")
    if embedding is None or unembedding is None or embedding.shape != unembedding.shape:
        return {}
    # From what a head writes to what it reads, if each logit is that of the token which is read.
    closing = unembedding.T @ embedding
    finder = _Projections()
    with undisturbed(model):
        with trace(model, finder, len(batch.texts), once=True):
            model(**batch.tensors)
        outputs = dict(projections(finder.receivers.by_call))
        values = {address: _value_matrix(*found) for address, found in finder.values.items()}
    shares = {}
    for address, output in outputs.items():
        value = values.get(address)
        if value is None or output.shape[2] != len(closing) or value.shape[1] != len(closing):
            continue
        read = np.repeat(value, len(output) // len(value), axis=0)
        circuits = np.einsum("hvd,de,hew->hvw", output, closing, read, optimize=True)
        eigenvalues = np.linalg.eigvals(circuits.astype(np.float64))
        sums = np.abs(eigenvalues).sum(axis=1)
        share: Numbers = eigenvalues.sum(axis=1).real / np.where(sums > 0, sums, np.nan)
        shares[Place(address.module, address.call)] = share
    return shares


class _Projections(Handler):
    """Finds the output projection of each call, and the module that made its values.

    Attributes:
        receivers: the modules that received head outputs.
        values: by call, the module that made the values, what it received, and the columns of its
            output for each head: [heads, d_v].
    """

    def __init__(self) -> None:
        self.receivers = Receivers()
        self.values: dict[Address, tuple[torch.nn.Module, torch.Tensor, np.ndarray]] = {}
        # What each module received, and those that have run since the last call.
        self._received: dict[int, torch.Tensor] = {}
        self._recent: list[tuple[torch.nn.Module, torch.Tensor, torch.Tensor]] = []

    def attention(self, address: Address, read: Read) -> None:
        recent, self._recent = self._recent, []
        try:
            call = read()
            value = getattr(call, "value", None)
            if call.output is None or value is None:
                return
            value = value if not hasattr(call, "layout") else call.layout.apply(value)
        except ValueError:  # an unknown layout
            return
        self.receivers.expect(address, call.output)
        for module, received, output in reversed(recent):
            columns = _columns(output, value)
            if columns is not None:
                self.values[address] = module, received, columns
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


def _columns(output: torch.Tensor, value: torch.Tensor) -> np.ndarray | None:
    """The columns of a module's output [M, T, n] that are values [M, heads, T, d_v]; None if not.

    Values may lie in it in any order, as where one module makes queries, keys and values.
    """
    texts, heads, tokens, width = value.shape
    if output.shape[:2] != (texts, tokens) or output.shape[2] < heads * width:
        return None
    made = output.detach().flatten(0, 1).T.cpu().float().numpy()
    known = {column.tobytes(): number for number, column in enumerate(made)}
    wanted = value.detach().permute(1, 3, 0, 2).flatten(2).cpu().float().numpy()
    found = [[known.get(column.tobytes(), -1) for column in head] for head in wanted]
    columns = np.array(found)
    return columns if (columns >= 0).all() else None


def _value_matrix(
    module: torch.nn.Module, received: torch.Tensor, columns: np.ndarray
) -> Floats | None:
    """The matrix from what a module reads to the values: float32 [heads, d_model, d_v]."""
    matrix = linear_matrix(module, received)
    return None if matrix is None else matrix.numpy()[:, columns].transpose(1, 0, 2)


def table(model: torch.nn.Module, name: str) -> Floats | None:
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
