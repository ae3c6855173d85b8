"""The score program: how a head's attention scores follow from its queries and keys.

A layer's attention is stored as queries, keys and this small description instead of as
T x T weights. `js/src/data/scores.ts` evaluates the same program in the browser; the
vectors in `tests/vectors` hold the two equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
MaskKind = Literal["none", "causal", "window", "explicit"]

_NEG_INF = np.float32(-np.inf)


@dataclass(frozen=True)
class ScoreProgram:
    """score(i, j) = mask(softcap(scale * q_i . k_j) + bias), softmax over j.

    Arrays over heads have one entry for all heads or one per head. Arrays over queries
    have R rows and are read at row i % R: 1 row for all queries, one row for each query of
    a block, or one for each query.

    Attributes:
        scale: factor on the dot product, usually 1/sqrt(d); or one factor per head.
        mask: which keys a query sees. "none": all; "causal": j <= i; "window":
            i - window[0] <= j <= i + window[1]; "explicit": where `visible` is true.
        window: (keys to the left, keys to the right), for mask "window".
        blocks: (queries, keys) per block, or None. A query sees no key outside of its own
            block: i // blocks[0] == j // blocks[1] (Swin's windows, Llama 4's chunks).
        visible: bool [1 or heads, R, K], for mask "explicit". K is Tk, or with blocks the keys
            of one block: column j % blocks[1].
        bias: float32 [1 or heads, R, K], added to the capped scores, or None.
        relative: float32 [1 or heads, Tq + Tk - 1], added to the capped scores at
            j - i + Tq - 1 (T5's position bias, ALiBi), or None.
        softcap: c in c * tanh(x / c), applied to the scaled dot products (Gemma 2), or None.
        sinks: float32 [heads], one extra logit per head that takes part in the softmax and
            receives weight but belongs to no key (gpt-oss), or None.
    """

    scale: float | tuple[float, ...]
    mask: MaskKind = "none"
    window: tuple[int, int] | None = None
    blocks: tuple[int, int] | None = None
    visible: Bools | None = None
    bias: Floats | None = None
    relative: Floats | None = None
    softcap: float | None = None
    sinks: Floats | None = None

    def __post_init__(self) -> None:
        if self.mask not in get_args(MaskKind):
            raise ValueError(f"mask is {self.mask!r}; expected one of {get_args(MaskKind)}")
        numbers = (*self._scales, 0 if self.softcap is None else self.softcap)
        if not all(isinstance(x, (int, float)) and math.isfinite(x) for x in numbers):
            raise ValueError("scale and softcap are finite numbers")
        if self.softcap == 0:
            raise ValueError("a softcap of 0 leaves no scores")
        if not _is_pair(self.window, least=0):
            raise ValueError(f"window is {self.window}; expected (keys to the left, to the right)")
        if not _is_pair(self.blocks, least=1):
            raise ValueError(f"blocks is {self.blocks}; expected (queries, keys) per block")
        if (self.mask == "window") != (self.window is not None):
            raise ValueError('a score program has a window exactly if its mask is "window"')
        if (self.mask == "explicit") != (self.visible is not None):
            raise ValueError('a score program has `visible` exactly if its mask is "explicit"')

    @property
    def _scales(self) -> tuple[float, ...]:
        return self.scale if isinstance(self.scale, tuple) else (self.scale,)

    def head_scale(self, head: int) -> float:
        """The factor on this head's dot products."""
        return self._scales[head % len(self._scales)]

    def check(self, num_heads: int, num_queries: int, num_keys: int) -> None:
        """Raise a ValueError unless everything fits a layer of this size."""
        if len(self._scales) not in (1, num_heads):
            raise ValueError(f"{len(self._scales)} scales for {num_heads} heads")
        columns, rows = num_keys, {1, num_queries}
        if self.blocks is not None:
            columns = min(self.blocks[1], num_keys)
            rows.add(self.blocks[0])
        matrix = [(h, r, columns) for h in {1, num_heads} for r in sorted(rows)]
        offsets = [(h, num_queries + num_keys - 1) for h in {1, num_heads}]
        for name, dtype, shapes in (
            ("visible", np.bool_, matrix),
            ("bias", np.float32, matrix),
            ("relative", np.float32, offsets),
            ("sinks", np.float32, [(num_heads,)]),
        ):
            array = getattr(self, name)
            if array is not None and (array.dtype != dtype or array.shape not in shapes):
                raise ValueError(
                    f"{name} is {array.dtype} {list(array.shape)}; expected "
                    f"{np.dtype(dtype)} of shape {' or '.join(str(list(s)) for s in shapes)}"
                )
            # -inf is a number here: what it is added to, or stands for, gets no weight.
            if array is not None and not (array < np.inf).all():
                raise ValueError(f"{name} hold NaN or infinity, so no attention follows from them")

    def visibility(self, head: int, rows: NDArray[np.intp], num_keys: int) -> Bools | None:
        """Which of `num_keys` keys the query rows see: bool [rows, Tk], or None for all."""
        columns = np.arange(num_keys)[None, :]
        seen: Bools | None = None
        if self.visible is not None:
            seen = self._cells(self.visible, head, rows, num_keys)
        elif self.mask == "causal":
            seen = columns <= rows[:, None]
        elif self.window is not None:
            distance = columns - rows[:, None]
            seen = (distance >= -self.window[0]) & (distance <= self.window[1])
        if self.blocks is None:
            return seen
        own: Bools = columns // self.blocks[1] == rows[:, None] // self.blocks[0]
        return own if seen is None else own & seen

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
        scores: Floats = (queries[rows] @ keys.T) * np.float32(self.head_scale(head))
        if self.softcap is not None:
            cap = np.float32(self.softcap)
            scores = cap * np.tanh(scores / cap)
        if self.mask != "none" or self.blocks or self.bias is not None or self.relative is not None:
            scores += self.added(head, rows, len(queries), len(keys))
        return scores

    def added(self, head: int, rows: NDArray[np.intp], num_queries: int, num_keys: int) -> Floats:
        """What is added to the capped scores of some query rows: the bias, -inf where masked."""
        added = np.zeros((len(rows), num_keys), np.float32)
        if self.bias is not None:
            added += self._cells(self.bias, head, rows, num_keys)
        if self.relative is not None:
            offsets = np.arange(num_keys)[None, :] - rows[:, None] + num_queries - 1
            added += self.relative[head % len(self.relative)][offsets]
        visible = self.visibility(head, rows, num_keys)
        if visible is not None:
            added[~visible] = _NEG_INF
        return added

    def softmax(self, scores: Floats, head: int) -> Floats:
        """Attention weights from scores [rows, Tk]. A row that sees no key is all zero."""
        sink = _NEG_INF if self.sinks is None else self.sinks[head]
        peak = np.maximum(scores.max(axis=-1, keepdims=True), sink)
        peak[~np.isfinite(peak)] = 0
        weights: Floats = scores - peak
        np.exp(weights, out=weights)
        total = weights.sum(axis=-1, keepdims=True) + np.exp(sink - peak)
        total[total == 0] = 1
        weights /= total
        return weights

    def _cells(
        self, array: NDArray[Any], head: int, rows: NDArray[np.intp], num_keys: int
    ) -> NDArray[Any]:
        """Rows [rows, Tk] of an array over heads, queries and keys."""
        table = array[head % len(array)]
        cells: NDArray[Any] = table[rows % len(table)]
        if self.blocks is None:
            return cells
        repeated: NDArray[Any] = cells[:, np.arange(num_keys) % self.blocks[1]]
        return repeated


def _is_pair(value: tuple[int, int] | None, least: int) -> bool:
    return value is None or (
        len(value) == 2 and all(type(n) is int for n in value) and min(value) >= least
    )
