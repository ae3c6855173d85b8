"""One attention call becomes one layer: a score program, checked against the model itself."""

from __future__ import annotations

import numpy as np
import torch

from attnwidget.record import Fidelity, Floats, Layer, ScoreProgram, sample_rows

from .intercept import AttentionCall
from .masks import Mask, read_mask

# What rounding alone can amount to, per floating-point type that the model computes in.
_TOLERANCE = {torch.float64: 1e-5, torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 3e-2}

ROUTE = "attention interface"


def explain(call: AttentionCall, batch_index: int, positions: torch.Tensor, name: str) -> Layer:
    """The layer that this call computed, for the unpadded `positions` of one batch item.

    Queries and keys with a score program are kept where the program gives the weights of the
    model's own attention function and, through the values, its real output. Where it does not,
    the weights of the model's own function are kept instead, if they come closer to that output.

    Raises:
        ValueError: the mask cannot be read, or queries or keys hold NaN or infinity.
    """
    item = _Item(call, batch_index, positions)
    # A wrong mask, scale or bias touches many rows, so some are enough to find it.
    rows = sample_rows(len(positions))
    program = item.program()
    layer = Layer(item.queries, item.keys, program, None, _unchecked(name))
    kept = np.stack([layer.head_weights(h, rows) for h in range(layer.num_heads)])
    own = item.own_weights(rows)
    fidelity = item.fidelity(name, "queries and keys", kept, own, rows)
    if fidelity.exact is False and own is not None:
        everything = np.arange(len(positions))
        weights = item.own_weights(everything)
        assert weights is not None
        by_weights = item.fidelity(name, "weights", weights, None, everything)
        if (by_weights.output_error or 0) < (fidelity.output_error or 0):
            return Layer(item.queries, item.keys, None, weights, by_weights)
    return Layer(item.queries, item.keys, program, None, fidelity)


def _unchecked(name: str) -> Fidelity:
    return Fidelity(ROUTE, name, "queries and keys", None, None, 0.0, 0)


class _Item:
    """The part of a call that concerns one item of the batch, without its padding."""

    def __init__(self, call: AttentionCall, batch_index: int, positions: torch.Tensor) -> None:
        self.call = call
        # Some models compute one item for a whole batch of equal ones.
        self.batch = 0 if len(call.query) == 1 else batch_index
        self.positions = positions.to(call.query.device)
        self.mask: Mask = read_mask(call, self.batch, positions)
        self.queries = self._numpy(call.query)
        self.keys = self._numpy(call.key)

    def _numpy(self, heads: torch.Tensor) -> Floats:
        """float32 [heads, unpadded tokens, d]; a copy, so that the model's buffers stay its own."""
        values = heads[self.batch][:, self.positions].detach().to("cpu", torch.float32)
        array: Floats = np.array(values.numpy(), order="C")
        return array

    def program(self) -> ScoreProgram:
        scale = self.call.options.get("scaling")
        softcap = self.call.options.get("softcap")
        sinks = self.call.options.get("s_aux")
        return ScoreProgram(
            scale=float(scale) if scale is not None else self.queries.shape[-1] ** -0.5,
            mask=self.mask.kind,
            window=self.mask.window,
            visible=self.mask.visible,
            bias=self.mask.bias,
            softcap=None if softcap is None else float(softcap),
            sinks=None if sinks is None else sinks.detach().to("cpu", torch.float32).numpy().copy(),
        )

    def own_weights(self, rows: np.ndarray) -> Floats | None:
        """Weights [heads, rows, Tk] by the model's own explicit attention function, in float32."""
        call = self.call
        if call.eager is None:
            return None
        picked = self.positions[torch.as_tensor(rows, device=self.positions.device)]
        options = {k: v for k, v in call.options.items() if k not in ("dropout", "position_bias")}
        _, weights = call.eager(
            call.module,
            call.query[self.batch : self.batch + 1, :, picked].float(),
            call.key[self.batch : self.batch + 1, :, self.positions].float(),
            call.value[self.batch : self.batch + 1, :, self.positions].float(),
            self.mask.additive(rows).to(call.query.device),
            dropout=0.0,
            **options,
        )
        array: Floats = weights[0].detach().to("cpu", torch.float32).numpy()
        return array

    def output(self, rows: np.ndarray) -> Floats:
        """What the attention function really returned: [heads, rows, d_v]."""
        value = self.call.value
        picked = self.positions[torch.as_tensor(rows, device=self.positions.device)]
        out = self.call.output[self.batch, picked].detach().to("cpu", torch.float32)
        return out.reshape(len(rows), -1, value.shape[-1]).transpose(0, 1).numpy()

    def fidelity(
        self, name: str, kept_as: str, kept: Floats, own: Floats | None, rows: np.ndarray
    ) -> Fidelity:
        """Errors of the weights `kept` [heads, rows, Tk], over rows that see any key."""
        live = kept.sum(axis=-1) != 0  # true of NaN, which must count as an error
        values = self._numpy(self.call.value)
        values = np.repeat(values, len(kept) // len(values), axis=0)
        # Per head: the values of one must not make an error of another look small.
        largest = np.maximum(np.abs(values).max(axis=(1, 2)), 1e-30)
        difference = np.abs(kept @ values - self.output(rows)) / largest[:, None, None]
        return Fidelity(
            ROUTE,
            name,
            kept_as,
            weights_error=None if own is None else float(np.abs(kept - own)[live].max(initial=0)),
            output_error=float(difference[live].max(initial=0)),
            tolerance=_TOLERANCE.get(self.call.query.dtype, 1e-5),
            rows=len(rows),
        )
