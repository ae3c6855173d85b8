"""The score program: how a head's attention scores follow from its queries and keys.

A layer's attention is stored as queries, keys and this small description instead of as
T x T weights. `js/src/data/scores.ts` evaluates the same program in the browser; the
vectors in `tests/vectors` hold the two equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
MaskKind = Literal["none", "causal", "window", "explicit"]

# Below this, a number is not a bias but says "masked": models use -1e4, -1e9, the lowest number
# of a type and -inf.
MASKED = -9e3

_NEG_INF = np.float32(-np.inf)
# Further than any two tokens can lie apart.
_ANY_DISTANCE = 1 << 30
# Larger integers are not exact in every language.
_MOST = 2**53
_LARGEST_SINGLE = float(np.finfo(np.float32).max)


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
        if not all(map(_is_single, numbers)):
            raise ValueError("scale and softcap are finite numbers of single precision")
        if self.softcap is not None and np.float32(self.softcap) == 0:
            raise ValueError("a softcap of 0 leaves no scores")
        if not _is_pair(self.window, least=0):
            raise ValueError(f"window is {self.window}; expected (keys to the left, to the right)")
        if not _is_pair(self.blocks, least=1):
            raise ValueError(f"blocks is {self.blocks}; expected (queries, keys) per block")
        if (self.mask == "window") != (self.window is not None):
            raise ValueError('a score program has a window exactly if its mask is "window"')
        if (self.mask == "explicit") != (self.visible is not None):
            raise ValueError('a score program has `visible` exactly if its mask is "explicit"')
        for name in ("bias", "relative", "sinks"):
            array = getattr(self, name)
            # -inf is a number here: what it is added to, or stands for, gets no weight.
            if array is not None and array.dtype == np.float32 and not (array < np.inf).all():
                raise ValueError(f"{name} hold NaN or infinity, so no attention follows from them")

    @property
    def _scales(self) -> tuple[float, ...]:
        return self.scale if isinstance(self.scale, tuple) else (self.scale,)

    def head_scale(self, head: int) -> float:
        """The factor on this head's dot products."""
        return self._scales[head % len(self._scales)]

    def check(self, num_heads: int, num_queries: int, num_keys: int) -> None:
        """Raise a ValueError unless scales and arrays fit a layer of this size."""
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

    def reach(self, rows: NDArray[np.intp], num_keys: int) -> range:
        """A range of keys, one at least, outside of which none of the query rows sees any."""
        lowest, highest = int(rows.min()), int(rows.max())
        first, end = 0, num_keys
        if self._distances is not None:
            left, right = self._distances
            first, end = max(first, lowest - left), min(end, highest + right + 1)
        if self.blocks is not None:
            queries, keys = self.blocks
            first = max(first, lowest // queries * keys)
            end = min(end, (highest // queries + 1) * keys)
        first = min(first, num_keys - 1)
        return range(first, max(end, first + 1))

    def visibility(self, head: int, rows: NDArray[np.intp], keys: range) -> Bools | None:
        """Which of these keys the query rows see: bool [rows, keys], or None for all."""
        columns = np.arange(keys.start, keys.stop)[None, :]
        seen: Bools | None = None
        if self.visible is not None:
            seen = self._cells(self.visible, head, rows, keys)
        elif self._distances is not None:
            left, right = self._distances
            seen = columns <= rows[:, None] + right
            if left < _ANY_DISTANCE:
                seen &= columns >= rows[:, None] - left
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
        self.finish(scores, head, rows, len(queries), range(len(keys)))
        return scores

    def finish(
        self, scores: Floats, head: int, rows: NDArray[np.intp], num_queries: int, keys: range
    ) -> None:
        """Cap, bias and mask scaled dot products [rows, keys], in place."""
        if self.softcap is not None:
            cap = np.float32(self.softcap)
            scores /= cap
            np.tanh(scores, out=scores)
            scores *= cap
        self._add(scores, head, rows, num_queries, keys)

    def added(self, head: int, rows: NDArray[np.intp], num_queries: int, num_keys: int) -> Floats:
        """What is added to the capped scores of some query rows: the bias, -inf where masked."""
        added = np.zeros((len(rows), num_keys), np.float32)
        self._add(added, head, rows, num_queries, range(num_keys))
        return added

    @property
    def adds(self) -> bool:
        """Whether anything is added to the capped scores, which may be -inf."""
        arrays = self.bias, self.relative, self.blocks
        return self.mask != "none" or any(array is not None for array in arrays)

    def _add(
        self, scores: Floats, head: int, rows: NDArray[np.intp], num_queries: int, keys: range
    ) -> None:
        if self.bias is not None:
            scores += self._cells(self.bias, head, rows, keys)
        if self.relative is not None:
            table = self.relative[head % len(self.relative)]
            windows = np.lib.stride_tricks.sliding_window_view(table, len(keys))
            scores += windows[keys.start - rows + num_queries - 1]
        for part in self._partly_seen(rows, keys):
            visible = self.visibility(head, rows, part)
            if visible is not None:
                cells = scores[:, part.start - keys.start : part.stop - keys.start]
                np.copyto(cells, _NEG_INF, where=~visible)

    def _partly_seen(self, rows: NDArray[np.intp], keys: range) -> list[range]:
        """What of these keys not every row may see: checking all would cost more than the rest."""
        if self.visible is not None or self.blocks is not None or self._distances is None:
            return [keys]
        left, right = self._distances
        before = min(max(int(rows.max()) - left, keys.start), keys.stop)
        after = min(max(int(rows.min()) + right + 1, keys.start), keys.stop)
        if before >= after:
            return [keys]
        parts = range(keys.start, before), range(after, keys.stop)
        return [part for part in parts if len(part)]

    @property
    def _distances(self) -> tuple[int, int] | None:
        """How far to the left and to the right queries see, where that is what the mask says."""
        return (_ANY_DISTANCE, 0) if self.mask == "causal" else self.window

    def softmax(self, scores: Floats, head: int) -> Floats:
        """Attention weights from scores [rows, Tk]. A row that sees no key is all zero."""
        weights: Floats = scores.copy()
        _, _, totals = self.exponentials(weights, head, out=weights)
        weights /= totals[..., None]
        return weights

    def exponentials(self, scores: Floats, head: int, out: Floats) -> tuple[Floats, Floats, Floats]:
        """The softmax of scores [..., Tk] before its division.

        Args:
            scores: replaced by what is exponentiated, which is each row less its peak.
            head: the query head, which picks its sink.
            out: where the exponentials go; may be `scores`.

        Returns:
            (peaks, sums, totals), float32 [...]: the largest score of each row, or its sink if
            that is larger; the sums of the exponentials; and what the softmax divides them by,
            which is the sum with the sink's share, or 1 where a row sees no key.
        """
        sink = _NEG_INF if self.sinks is None else self.sinks[head]
        peaks: Floats = np.maximum(scores.max(axis=-1), sink)
        # A row that sees no key has no weights, whatever is subtracted from it.
        peaks[~np.isfinite(peaks)] = 0
        scores -= peaks[..., None]
        np.exp(scores, out=out)
        sums: Floats = out.sum(axis=-1)
        totals: Floats = sums + np.exp(sink - peaks)
        totals[totals == 0] = 1
        return peaks, sums, totals

    def _cells(
        self, array: NDArray[Any], head: int, rows: NDArray[np.intp], keys: range
    ) -> NDArray[Any]:
        """Rows [rows, keys] of an array over heads, queries and keys."""
        table = array[head % len(array)]
        if self.blocks is None:
            cells: NDArray[Any] = table[rows % len(table), keys.start : keys.stop]
            return cells
        repeated: NDArray[Any] = table[rows % len(table)][:, np.array(keys) % self.blocks[1]]
        return repeated


def _is_single(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # Also false for NaN.
    return number and bool(abs(value) <= _LARGEST_SINGLE)  # type: ignore[arg-type]


def _is_pair(value: tuple[int, int] | None, least: int) -> bool:
    return value is None or (
        len(value) == 2 and all(type(n) is int and least <= n <= _MOST for n in value)
    )
