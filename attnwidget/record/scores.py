"""The score program: how a head's attention scores follow from its queries and keys.

A layer's attention is stored as queries, keys and this small description instead of as
T x T weights. `js/src/data/scores.ts` evaluates the same program in the browser; the
vectors in `tests/vectors` hold the two equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
MaskKind = Literal["none", "causal", "window", "explicit"]

_NEG_INF = np.float32(-np.inf)


@dataclass(frozen=True)
class ScoreProgram:
    """score(i, j) = mask(softcap(scale * q_i . k_j) + bias), softmax over j.

    Attributes:
        scale: factor on the dot product, usually 1/sqrt(d).
        mask: which keys a query sees. "none": all; "causal": j <= i; "window":
            i - window[0] <= j <= i + window[1]; "explicit": where `visible` is true.
        window: (keys to the left, keys to the right), for mask "window".
        visible: bool [1 or heads, Tq, Tk], for mask "explicit".
        bias: float32 [1 or heads, Tq, Tk], added to the capped scores, or None.
        softcap: c in c * tanh(x / c), applied to the scaled dot products (Gemma 2), or None.
        sinks: float32 [heads], one extra logit per head that takes part in the softmax and
            receives weight but belongs to no key (gpt-oss), or None.
    """

    scale: float
    mask: MaskKind = "none"
    window: tuple[int, int] | None = None
    visible: Bools | None = None
    bias: Floats | None = None
    softcap: float | None = None
    sinks: Floats | None = None

    def __post_init__(self) -> None:
        if self.mask not in get_args(MaskKind):
            raise ValueError(f"mask is {self.mask!r}; expected one of {get_args(MaskKind)}")
        if not all(math.isfinite(x) for x in (self.scale, self.softcap or 0)):
            raise ValueError("scale and softcap are finite numbers")
        if self.window is not None and (len(self.window) != 2 or min(self.window) < 0):
            raise ValueError(f"window is {self.window}; expected (keys to the left, to the right)")
        if (self.mask == "window") != (self.window is not None):
            raise ValueError('a score program has a window exactly if its mask is "window"')
        if (self.mask == "explicit") != (self.visible is not None):
            raise ValueError('a score program has `visible` exactly if its mask is "explicit"')

    def check(self, num_heads: int, num_queries: int, num_keys: int) -> None:
        """Raise a ValueError unless the arrays fit a layer of this size."""
        matrix = [(1, num_queries, num_keys), (num_heads, num_queries, num_keys)]
        for name, dtype, shapes in (
            ("visible", np.bool_, matrix),
            ("bias", np.float32, matrix),
            ("sinks", np.float32, [(num_heads,)]),
        ):
            array = getattr(self, name)
            if array is not None and (array.dtype != dtype or array.shape not in shapes):
                raise ValueError(
                    f"{name} is {array.dtype} {list(array.shape)}; expected "
                    f"{np.dtype(dtype)} of shape {' or '.join(str(list(s)) for s in shapes)}"
                )

    def visibility(self, head: int, rows: NDArray[np.intp], num_keys: int) -> Bools | None:
        """Which of `num_keys` keys the query rows see: bool [rows, Tk], or None for all."""
        if self.visible is not None:
            seen: Bools = self.visible[head % len(self.visible)][rows]
            return seen
        if self.mask == "none":
            return None
        distance = np.arange(num_keys)[None, :] - rows[:, None]
        if self.window is None:
            causal: Bools = distance <= 0
            return causal
        return (distance >= -self.window[0]) & (distance <= self.window[1])

    def scores(
        self, queries: Floats, keys: Floats, head: int, rows: NDArray[np.intp] | None = None
    ) -> Floats:
        """What goes into the softmax of one head: scaled, capped, biased, masked to -inf.

        Args:
            queries: float32 [Tq, d].
            keys: float32 [Tk, d], of the key head that this query head uses.
            head: the query head, which picks its bias, mask and sink.
            rows: the query positions wanted; all of them if None.

        Returns:
            float32 [rows, Tk].
        """
        if rows is None:
            rows = np.arange(len(queries))
        scores: Floats = (queries[rows] @ keys.T) * np.float32(self.scale)
        if self.softcap is not None:
            cap = np.float32(self.softcap)
            scores = cap * np.tanh(scores / cap)
        if self.bias is not None:
            scores += self.bias[head % len(self.bias)][rows]
        visible = self.visibility(head, rows, len(keys))
        if visible is not None:
            scores[~visible] = _NEG_INF
        return scores

    def softmax(self, scores: Floats, head: int) -> Floats:
        """Attention weights from scores [rows, Tk]. A row that sees no key is all zero."""
        sink = _NEG_INF if self.sinks is None else self.sinks[head]
        peak = np.maximum(scores.max(axis=-1, keepdims=True), sink)
        peak[~np.isfinite(peak)] = 0
        exponentials = np.exp(scores - peak)
        total = exponentials.sum(axis=-1, keepdims=True) + np.exp(sink - peak)
        total[total == 0] = 1
        weights: Floats = exponentials / total
        return weights
