"""Value and output projections of heads: the matrices by which they read and write.

Both are found by running the model over a text, and their modules on unit vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from attnwidget.record import Floats
from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.running.projection import linear_matrix, projections
from attnwidget.tracing import (
    Address,
    Call,
    CallId,
    Handler,
    Read,
    Receivers,
    SoftmaxCall,
    trace,
    undisturbed,
)


@dataclass(frozen=True)
class Projections:
    """The projections of each attention call, as far as they are found.

    Attributes:
        reads: from the residual stream to values, float32 [key heads, d_model, d_v].
        writes: from the average of values to the residual stream, float32 [heads, d_v, d_model].
    """

    reads: dict[CallId, Floats]
    writes: dict[CallId, Floats]


def find_projections(model: torch.nn.Module, batch: TextBatch) -> Projections:
    """Find the projections of a model's attention calls, as it reads a batch of any texts."""
    finder = _Finder()
    with undisturbed(model):
        with trace(model, finder, len(batch.texts), once=True):
            run_model(model, batch)
        writes = {_place(a): matrix for a, matrix in projections(finder.receivers.by_call)}
        reads = {}
        for address, (module, received, columns) in finder.makers.items():
            matrix = linear_matrix(module, received)
            if matrix is not None:
                reads[_place(address)] = matrix.numpy()[:, columns].transpose(1, 0, 2)
    return Projections(reads, writes)


def values_of(call: Call) -> torch.Tensor | None:
    """The values of a call, [M, key heads, Tk, d_v]; None if they are not known.

    Raises:
        ValueError: their layout is not known.
    """
    if isinstance(call, SoftmaxCall):
        return None if call.value is None else call.layout.apply(call.value)
    return call.value


class _Finder(Handler):
    """Finds the modules that receive head outputs, and those that make values.

    Attributes:
        receivers: the modules that received head outputs.
        makers: by call, the module that made the values, what it received, and the columns of its
            output for each head: [heads, d_v].
    """

    def __init__(self) -> None:
        self.receivers = Receivers()
        self.makers: dict[Address, tuple[torch.nn.Module, torch.Tensor, np.ndarray]] = {}
        # The input of each running module, and the modules that have run since the last call.
        self._received: dict[int, torch.Tensor] = {}
        self._recent: list[tuple[torch.nn.Module, torch.Tensor, torch.Tensor]] = []

    def attention(self, address: Address, read: Read) -> None:
        recent, self._recent = self._recent, []
        try:
            call = read()
            value = values_of(call)
        except ValueError:  # an unknown layout
            return
        if call.output is None or value is None:
            return
        self.receivers.expect(address, call.output)
        for module, received, output in reversed(recent):
            columns = _columns(output, value)
            if columns is not None:
                self.makers[address] = module, received, columns
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
    texts, _, tokens, width = value.shape
    if output.shape[:2] != (texts, tokens) or output.shape[2] < width:
        return None
    made = output.detach().flatten(0, 1).T.cpu().float().numpy()
    known = {column.tobytes(): number for number, column in enumerate(made)}
    wanted = value.detach().permute(1, 3, 0, 2).flatten(2).cpu().float().numpy()
    columns = np.array([[known.get(column.tobytes(), -1) for column in head] for head in wanted])
    return columns if (columns >= 0).all() else None


def _place(address: Address) -> CallId:
    return CallId(address.module, address.call)
