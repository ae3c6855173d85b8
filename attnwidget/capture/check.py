"""The part of a function's call that concerns one item, and how exactly a layer gives it again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from attnwidget.record import Fidelity, Floats, Layer, sample_rows

from .calls import FunctionCall
from .item import Item
from .tolerance import tolerance

# Of the windows of one call, so many are checked.
_GROUPS = 4


class Part:
    """The part of a call that concerns one item, and the rows of it that are checked."""

    def __init__(self, call: FunctionCall, item: Item) -> None:
        self.call = call
        self.slice = item.groups(len(call.query))
        self.groups = self.slice.stop - self.slice.start
        tokens = call.query.shape[-2], call.key.shape[-2]
        self.rows, self.columns = item.positions(tokens, self.groups)
        self.shape = len(self.rows), len(self.columns)

    def joined(self, heads: torch.Tensor) -> Floats:
        """float32 [heads, groups * T, d]; a copy, so that the model's buffers stay its own."""
        own = self._cut(heads)
        array: Floats = np.array(own.transpose(0, 1).flatten(1, 2).numpy(), order="C")
        return array

    def _cut(self, heads: torch.Tensor) -> torch.Tensor:
        """[groups, heads, T, d] in float32 on the CPU."""
        own = heads[self.slice].detach().to("cpu", torch.float32)
        if self.groups > 1:
            return own
        positions = (
            self.columns if heads is self.call.key or heads is self.call.value else self.rows
        )
        return own if len(positions) == own.shape[-2] else own[:, :, positions]

    def fidelity(self, layer: Layer) -> Fidelity:
        """Errors of a layer, over rows that see any key.

        A wrong mask, scale or bias touches many rows, so some are enough to find it.
        """
        call = self.call
        value = self._cut(call.value).numpy()
        output = None if call.output is None else self._cut(call.output).numpy()
        # Of the model's own weights: how far the layer's are from them, and they from the output.
        off_own, own_off, off, checked = 0.0, 0.0, 0.0, 0
        compared = call.reference is not None and layer.program is not None
        for group in sample_rows(self.groups)[:: max(1, -(-self.groups // _GROUPS))]:
            rows = sample_rows(self.shape[0])
            columns = slice(group * self.shape[1], (group + 1) * self.shape[1])
            kept = np.stack(
                [
                    layer.head_weights(head, rows + group * self.shape[0])[:, columns]
                    for head in range(layer.num_heads)
                ]
            )
            checked += len(rows)
            live = kept.sum(axis=-1) != 0  # true of NaN, which must count as an error
            own = self._own_weights(layer, group, rows) if compared else None
            compared = own is not None
            mixed = np.repeat(value[group], len(kept) // len(value[group]), axis=0)
            real = None if output is None else output[group][:, rows]
            off = _larger(off, _distance(kept, mixed, real)[live])
            if own is not None:
                off_own = _larger(off_own, np.abs(kept - own)[live])
                own_off = _larger(own_off, _distance(own, mixed, real)[live])
        # Under autocast, a model computes in less precision than its queries have.
        limit = tolerance((call.query if call.output is None else call.output).dtype)
        # Some models' own function returns other weights than those which made the output.
        compared = compared and own_off <= limit
        return replace(
            layer.fidelity,
            weights_error=off_own if compared else None,
            output_error=None if output is None else off,
            tolerance=limit,
            rows=checked,
        )

    def _own_weights(self, layer: Layer, group: int, rows: np.ndarray) -> Floats | None:
        """Weights [heads, rows, Tk] by the model's own explicit attention function, in float32."""
        call = self.call
        if call.reference is None or layer.program is None:
            return None
        index = self.slice.start + group
        device = call.query.device
        picked = self.rows[torch.as_tensor(rows)].to(device)
        columns = self.columns.to(device)
        mask = _additive(layer, group, rows, self.shape).to(device)
        try:
            weights = call.reference(
                call.query[index : index + 1, :, picked].float(),
                call.key[index : index + 1, :, columns].float(),
                call.value[index : index + 1, :, columns].float(),
                mask,
            )
            array: Floats = weights[0].detach().to("cpu", torch.float32).numpy()
        except Exception:  # it may need more than it is told; the output is compared all the same
            return None
        return array if array.shape == (layer.num_heads, len(rows), self.shape[1]) else None


def _distance(weights: Floats, values: Floats, output: Floats | None) -> Floats:
    """[heads, rows]: how far weights . values lies from an output, relative to the values."""
    if output is None:
        return np.zeros(weights.shape[:2], np.float32)
    # Per head: the values of one must not make an error of another look small.
    largest = np.maximum(np.abs(values).max(axis=(1, 2)), 1e-30)[:, None]
    distance: Floats = np.abs(weights @ values - output).max(axis=2) / largest
    return distance


def _larger(error: float, differences: np.ndarray) -> float:
    # Of numpy, because the largest of Python passes over NaN.
    return float(np.maximum(error, differences.max(initial=0)))


def _additive(layer: Layer, group: int, rows: np.ndarray, shape: tuple[int, int]) -> torch.Tensor:
    """float32 [1, 1 or heads, rows, Tk]: bias where a key is seen, the lowest float elsewhere."""
    program = layer.program
    assert program is not None
    heads = [len(a) for a in (program.visible, program.bias, program.relative) if a is not None]
    columns = slice(group * shape[1], (group + 1) * shape[1])
    added = [
        program.added(head, rows + group * shape[0], *layer.shape)[:, columns]
        for head in range(max(heads, default=1))
    ]
    lowest = np.finfo(np.float32).min
    stacked = np.stack(added)[None]
    return torch.from_numpy(np.where(np.isneginf(stacked), lowest, stacked))
