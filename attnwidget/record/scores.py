"""The score program: computes a head's attention scores from its queries and keys.

A layer's attention is stored as queries, keys and this small description instead of T x T weights.
`js/src/data/scores.ts` evaluates the same program in the browser; `tests/vectors` holds the two
equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
MaskKind = Literal["none", "causal", "window", "explicit"]

# Lower numbers in an additive mask mean "masked": models use -1e4, -1e9, the lowest number of a
# type and -inf.
MASKED = -9e3

_NEG_INF = np.float32(-np.inf)
# A distance larger than that of any two tokens.
_ANY_DISTANCE = 1 << 30
# Larger integers are not exact in every language.
_LARGEST_INTEGER = 2**53
_LARGEST_SINGLE = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class ScoreProgram:
    """score(i, j) = mask(softcap(scale * q_i . k_j) + bias), softmax over j.

    Arrays over heads have one entry for all heads or one per head. Arrays over queries
    have R rows and are read at row i % R: 1 row for all queries, one row for each query of
    a block, or one for each query.

    Attributes:
        scale: factor on the dot product, usually 1/sqrt(d); or one factor per head.
        mask: the keys that a query sees. "none": all; "causal": j <= i; "window":
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
            raise ValueError("scale and softcap must be finite numbers of single precision")
        if self.softcap is not None and np.float32(self.softcap) == 0:
            raise ValueError("a softcap of 0 leaves no scores")
        if not _is_pair(self.window, least=0):
            raise ValueError(f"window is {self.window}; expected (keys to the left, to the right)")
        if not _is_pair(self.blocks, least=1):
            raise ValueError(f"blocks is {self.blocks}; expected (queries, keys) per block")
        if (self.mask == "window") != (self.window is not None):
            raise ValueError('a score program has a window if and only if its mask is "window"')
        if (self.mask == "explicit") != (self.visible is not None):
            raise ValueError('a score program has `visible` if and only if its mask is "explicit"')
        for name in ("bias", "relative", "sinks"):
            array = getattr(self, name)
            # -inf is allowed: its key, or its sink, gets no weight.
            if array is not None and array.dtype == np.float32 and not (array < np.inf).all():
                raise ValueError(f"{name} hold NaN or infinity, so no attention follows from them")

    @property
    def _scales(self) -> tuple[float, ...]:
        return self.scale if isinstance(self.scale, tuple) else (self.scale,)

    def head_scale(self, head: int) -> float:
        """The factor on this head's dot products."""
        return self._scales[head % len(self._scales)]

    @property
    def same_heads(self) -> bool:
        """True if the same scale, mask and bias hold for all heads, and there are no sinks."""
        arrays = self.visible, self.bias, self.relative
        shared = all(array is None or len(array) == 1 for array in arrays)
        return shared and len(self._scales) == 1 and self.sinks is None

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
        """A range of at least one key that includes all keys that these query rows see."""
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
        """The visibility of keys to query rows: bool [rows, keys], or None if all are visible."""
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
        same_block: Bools = columns // self.blocks[1] == rows[:, None] // self.blocks[0]
        return same_block if seen is None else same_block & seen

    def scores(
        self, queries: Floats, keys: Floats, head: int, rows: NDArray[np.intp] | None = None
    ) -> Floats:
        """Compute the softmax's input for one head: scaled, capped, biased, masked to -inf.

        Args:
            queries: float32 [Tq, d].
            keys: float32 [Tk, d], of the key head that this query head uses.
            head: the query head, which selects its bias, mask and sink.
            rows: query positions; all of them if None.

        Returns:
            float32 [rows, Tk].
        """
        if rows is None:
            rows = np.arange(len(queries))
        # Whoever shows numbers refuses those that follow from infinity.
        with np.errstate(over="ignore"):
            scores: Floats = (queries[rows] @ keys.T) * np.float32(self.head_scale(head))
        self.finish(scores, head, rows, len(queries), range(len(keys)))
        return scores

    def finish(
        self, scores: Floats, head: int, rows: NDArray[np.intp], num_queries: int, keys: range
    ) -> None:
        """Cap, bias and mask scaled dot products [..., rows, keys], in place."""
        if self.softcap is not None:
            cap = np.float32(self.softcap)
            scores /= cap
            np.tanh(scores, out=scores)
            scores *= cap
        self._add(scores, head, rows, num_queries, keys)

    def added(self, head: int, rows: NDArray[np.intp], num_queries: int, num_keys: int) -> Floats:
        """The terms added to the capped scores of some query rows: the bias, -inf where masked."""
        added = np.zeros((len(rows), num_keys), np.float32)
        self._add(added, head, rows, num_queries, range(num_keys))
        return added

    @property
    def adds(self) -> bool:
        """True if there is a mask or bias, so that scores may be -inf."""
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
        for masked in self._masked_ranges(rows, keys):
            visible = self.visibility(head, rows, masked)
            if visible is not None:
                cells = scores[..., masked.start - keys.start : masked.stop - keys.start]
                np.copyto(cells, _NEG_INF, where=~visible)

    def _masked_ranges(self, rows: NDArray[np.intp], keys: range) -> list[range]:
        """The keys that some row may not see: masking all would cost more than all other steps."""
        if self.visible is not None or self.blocks is not None or self._distances is None:
            return [keys]
        left, right = self._distances
        before = min(max(int(rows.max()) - left, keys.start), keys.stop)
        after = min(max(int(rows.min()) + right + 1, keys.start), keys.stop)
        if before >= after:
            return [keys]
        return [part for part in (range(keys.start, before), range(after, keys.stop)) if part]

    @property
    def _distances(self) -> tuple[int, int] | None:
        """The distances (left, right) that queries see, if the mask is a band."""
        return (_ANY_DISTANCE, 0) if self.mask == "causal" else self.window

    def softmax(self, scores: Floats, head: int) -> Floats:
        """Compute attention weights from scores [rows, Tk]. A row that sees no key is all zero."""
        weights: Floats = scores.copy()
        _, _, totals = self.exponentials(weights, head, out=weights)
        weights /= totals[..., None]
        return weights

    def exponentials(self, scores: Floats, head: int, out: Floats) -> tuple[Floats, Floats, Floats]:
        """Compute the softmax of scores [..., Tk] without its division.

        Args:
            scores: replaced by the exponents, which are each row less its peak.
            head: the query head, which selects its sink.
            out: receives the exponentials; may be `scores`.

        Returns:
            (peaks, sums, totals), float32 [...]: the largest score of each row, or its sink if
            that is larger; the sums of the exponentials; and the divisors of the softmax, which are
            the sums with the sink's share, or 1 where a row sees no key.
        """
        sink = _NEG_INF if self.sinks is None else self.sinks[head]
        peaks: Floats = np.maximum(scores.max(axis=-1), sink)
        # For a row that sees no key, any finite peak gives exponentials of zero.
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
    # The comparison is false for NaN.
    return number and bool(abs(value) <= _LARGEST_SINGLE)  # type: ignore[arg-type]


def _is_pair(value: tuple[int, int] | None, least: int) -> bool:
    return value is None or (
        len(value) == 2 and all(type(n) is int and least <= n <= _LARGEST_INTEGER for n in value)
    )


_ALL = 64
_SAMPLE = 16


def sample_rows(count: int) -> NDArray[np.intp]:
    """All of up to 64 rows; of more, 16 evenly spread ones, with the first and the last."""
    return np.arange(count) if count <= _ALL else spread_rows(count, _SAMPLE)


def spread_rows(count: int, wanted: int) -> NDArray[np.intp]:
    """`wanted` of `count` rows, evenly spread, with the first and the last."""
    spread: NDArray[np.intp] = np.linspace(0, count - 1, wanted).round().astype(np.intp)
    return spread
