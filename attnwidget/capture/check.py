"""Comparison of a layer with what the model's attention function computed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from attnwidget.record import Fidelity, Floats, Layer, sample_rows
from attnwidget.tracing import FunctionCall

from .items import Selection
from .tolerance import largest_score, tolerance

# At most so many windows of one call are checked.
_WINDOWS = 4


class CallCheck:
    """Compares layers with some rows of the call from which they were taken."""

    def __init__(self, call: FunctionCall, selection: Selection) -> None:
        self.call = call
        self.selection = selection
        self.shape = selection.shape

    def fidelity(self, layer: Layer) -> Fidelity:
        """Errors of a layer, over rows that see any key.

        A wrong mask, scale or bias touches many rows, so some are enough to find it.
        """
        call, selection = self.call, self.selection
        value = selection.cut(call.value, selection.keys).numpy()
        output = (
            None if call.output is None else selection.cut(call.output, selection.queries).numpy()
        )
        # The distance of the layer's weights to the model's own, and of these to the output.
        off_own, own_off, off, checked = 0.0, 0.0, 0.0, 0
        compared = call.reference is not None and layer.program is not None
        windows = sample_rows(selection.count)[:: max(1, -(-selection.count // _WINDOWS))]
        for window in windows:
            rows = sample_rows(self.shape[0])
            columns = slice(window * self.shape[1], (window + 1) * self.shape[1])
            kept = np.stack(
                [
                    layer.head_weights(head, rows + window * self.shape[0])[:, columns]
                    for head in range(layer.num_heads)
                ]
            )
            checked += len(rows)
            live = kept.sum(axis=-1) != 0  # true of NaN, which must count as an error
            own = self._own_weights(layer, window, rows) if compared else None
            compared = own is not None
            mixed = np.repeat(value[window], len(kept) // len(value[window]), axis=0)
            real = None if output is None else output[window][:, rows]
            off = _larger(off, _distance(kept, mixed, real)[live])
            if own is not None:
                off_own = _larger(off_own, np.abs(kept - own)[live])
                own_off = _larger(own_off, _distance(own, mixed, real)[live])
        # Under autocast, a model computes in less precision than its queries have.
        dtype = (call.query if call.output is None else call.output).dtype
        limit = tolerance(dtype, 0.0 if layer.program is None else largest_score(layer))
        # Some models' own function returns other weights than those which made the output.
        compared = compared and own_off <= limit
        return replace(
            layer.fidelity,
            weights_error=off_own if compared else None,
            output_error=None if output is None else off,
            tolerance=limit,
            rows=checked,
        )

    def _own_weights(self, layer: Layer, window: int, rows: np.ndarray) -> Floats | None:
        """Weights [heads, rows, Tk] by the model's own explicit attention function, in float32."""
        call = self.call
        if call.reference is None or layer.program is None:
            return None
        index = self.selection.windows.start + window
        device = call.query.device
        picked = self.selection.queries[torch.as_tensor(rows)].to(device)
        columns = self.selection.keys.to(device)
        mask = _additive(layer, window, rows, self.shape).to(device)
        try:
            weights = call.reference(
                call.query[index : index + 1, :, picked].float(),
                call.key[index : index + 1, :, columns].float(),
                call.value[index : index + 1, :, columns].float(),
                mask,
            )
            array: Floats = weights[0].detach().to("cpu", torch.float32).numpy()
        except Exception:  # it may need more arguments; the output is compared all the same
            return None
        return array if array.shape == (layer.num_heads, len(rows), self.shape[1]) else None


def _distance(weights: Floats, values: Floats, output: Floats | None) -> Floats:
    """[heads, rows]: the distance of weights . values to an output, relative to the values."""
    if output is None:
        return np.zeros(weights.shape[:2], np.float32)
    # Per head: the values of one must not make an error of another look small.
    largest = np.maximum(np.abs(values).max(axis=(1, 2)), 1e-30)[:, None]
    distance: Floats = np.abs(weights @ values - output).max(axis=2) / largest
    return distance


def _larger(error: float, differences: np.ndarray) -> float:
    # By numpy, because Python's max passes over NaN.
    return float(np.maximum(error, differences.max(initial=0)))


def _additive(layer: Layer, window: int, rows: np.ndarray, shape: tuple[int, int]) -> torch.Tensor:
    """float32 [1, 1 or heads, rows, Tk]: bias where a key is seen, the lowest float elsewhere."""
    program = layer.program
    assert program is not None
    heads = [len(a) for a in (program.visible, program.bias, program.relative) if a is not None]
    columns = slice(window * shape[1], (window + 1) * shape[1])
    added = [
        program.added(head, rows + window * shape[0], *layer.shape)[:, columns]
        for head in range(max(heads, default=1))
    ]
    lowest = np.finfo(np.float32).min
    stacked = np.stack(added)[None]
    return torch.from_numpy(np.where(np.isneginf(stacked), lowest, stacked))
