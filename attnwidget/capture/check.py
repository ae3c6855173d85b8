"""Comparison of a layer with the results of the model's attention function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.record import Fidelity, Floats, Layer, ScoreProgram, sample_rows
from attnwidget.running.items import Selection
from attnwidget.running.tolerance import largest_score, output_distance, tolerance
from attnwidget.tracing import FunctionCall

from .terms import added_terms

# The most windows of one call that are checked.
_MAX_WINDOWS = 4

# The rows that are compared at a time, so that memory stays below that of a whole matrix.
_BATCH = 64

_LEAST_TOLERANCE = tolerance(torch.float32)


class CallCheck:
    """Compares layers with some rows of the call from which they were taken."""

    def __init__(self, call: FunctionCall, selection: Selection) -> None:
        self.call = call
        self.selection = selection
        self.shape = selection.shape
        self._rows = sample_rows(self.shape[0])

    def fidelity(self, layer: Layer) -> Fidelity:
        """Measure the errors of a layer, over the compared rows that see any key.

        A wrong mask, scale or bias affects many rows, so a sample finds it.
        """
        call, selection = self.call, self.selection
        value = selection.cut(call.value, selection.keys).numpy()
        # Per head, so that large values of one head do not hide an error of another.
        largest = np.maximum(np.abs(value).max(axis=(2, 3)), 1e-30)
        output = (
            None if call.output is None else selection.cut(call.output, selection.queries).numpy()
        )
        # Differences of weights, and of head outputs by the layer's and by the model's weights.
        weights_error, output_error, reference_error, checked = 0.0, 0.0, 0.0, 0
        compared = call.reference is not None and layer.program is not None
        for window, rows in self._batches():
            columns = slice(window * self.shape[1], (window + 1) * self.shape[1])
            kept = layer.all_weights(rows + window * self.shape[0])[..., columns]
            checked += len(rows)
            live = kept.sum(axis=-1) != 0  # true of NaN, which must count as an error
            reference = self._reference(layer, window, rows) if compared else None
            compared = reference is not None
            values = value[window], largest[window]
            outputs = None if output is None else output[window][:, rows]
            output_error = _larger(output_error, output_distance(kept, *values, outputs)[live])
            if reference is not None:
                differences = np.abs(kept - reference)[live]
                weights_error = _larger(weights_error, differences)
                # The outputs of both differ by no more than this, relative to the values.
                between = _larger(0.0, differences.sum(axis=-1))
                if not between <= _LEAST_TOLERANCE / 2 >= output_error:
                    distance = output_distance(reference, *values, outputs)[live]
                    reference_error = _larger(reference_error, distance)
        # Under autocast, a model computes in less precision than its queries have.
        dtype = (call.query if call.output is None else call.output).dtype
        limit = tolerance(dtype, 0.0 if layer.program is None else largest_score(layer))
        # Some models' explicit function returns weights other than those behind the output.
        compared = compared and reference_error <= limit
        return replace(
            layer.fidelity,
            weights_error=weights_error if compared else None,
            output_error=None if output is None else output_error,
            tolerance=limit,
            rows=checked,
        )

    def _batches(self) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """(window, rows) to compare."""
        count = self.selection.count
        for window in sample_rows(count)[:: max(1, -(-count // _MAX_WINDOWS))]:
            for start in range(0, len(self._rows), _BATCH):
                yield int(window), self._rows[start : start + _BATCH]

    def _reference(self, layer: Layer, window: int, rows: np.ndarray) -> Floats | None:
        """Weights [heads, rows, Tk] by the model's explicit attention function, in float32."""
        call = self.call
        if call.reference is None or layer.program is None:
            return None
        index = self.selection.windows.start + window
        device = call.query.device
        picked, columns = self.selection.queries[torch.from_numpy(rows)], self.selection.keys
        mask = _additive(layer, window, rows, self.shape).to(device)
        try:
            weights = call.reference(
                _tokens(call.query[index : index + 1], picked),
                _tokens(call.key[index : index + 1], columns),
                _tokens(call.value[index : index + 1], columns),
                mask,
            )
            array: Floats = weights[0].detach().to("cpu", torch.float32).numpy()
        except Exception:  # it may need more arguments; the output is still compared
            return None
        return array if array.shape == (layer.num_heads, len(rows), self.shape[1]) else None


def leads_to_output(
    layer: Layer, weights: Floats, call: FunctionCall, selection: Selection
) -> bool:
    """True if all weights times values are the call's output, as far as that is known.

    Args:
        layer: of the call, over a single window.
        weights: all of them, [heads, Tq, Tk].
    """
    if call.output is None:
        return True
    [value] = selection.cut(call.value, selection.keys).numpy()
    [output] = selection.cut(call.output, selection.queries).numpy()
    largest = np.maximum(np.abs(value).max(axis=(1, 2)), 1e-30)
    errors = output_distance(weights, value, largest, output)[weights.sum(axis=-1) != 0]
    # False also if an error is NaN.
    return bool((errors <= tolerance(call.output.dtype, largest_score(layer))).all())


def _tokens(vectors: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Vectors [1, heads, T, d] of some positions, in float32."""
    if len(positions) < vectors.shape[2]:
        vectors = vectors.index_select(2, positions.to(vectors.device))
    return vectors.float()


def _larger(error: float, differences: np.ndarray) -> float:
    # Python's max would skip NaN.
    return float(np.maximum(error, differences.max(initial=0)))


def _additive(layer: Layer, window: int, rows: np.ndarray, shape: tuple[int, int]) -> torch.Tensor:
    """The bias where a key is seen, else the lowest float: float32 [1, 1 or heads, rows, Tk]."""
    assert isinstance(layer.program, ScoreProgram)
    added = added_terms(layer.program, rows + window * shape[0], layer.shape)
    added = added[None, :, :, window * shape[1] : (window + 1) * shape[1]]
    return torch.from_numpy(np.where(np.isneginf(added), np.finfo(np.float32).min, added))
