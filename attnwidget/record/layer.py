"""One attention layer of a record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from attnwidget.arguments import one_number

from .fidelity import RECURRENCE, Fidelity
from .recurrence import Recurrence
from .scores import Floats, ScoreProgram

_Real = TypeVar("_Real", np.float32, np.float64)

Pairs = Literal["halves", "neighbours"]


@dataclass(frozen=True)
class Rotary:
    """The pairs among the components of every query and key.

    Attributes:
        pairs: "halves" pairs component n with n + dims / 2, as in Llama; "neighbours" pairs an even
            n with n + 1, as in GPT-J. Both are counted from `start`.
        dims: the number of components that are rotated.
        start: the first of them.
    """

    pairs: Pairs
    dims: int
    start: int = 0

    def __post_init__(self) -> None:
        if self.pairs not in get_args(Pairs):
            raise ValueError(f"rotary pairs {self.pairs!r}; expected one of {get_args(Pairs)}")
        if type(self.dims) is not int or self.dims < 2 or self.dims % 2:
            raise ValueError(f"rotary dims {self.dims!r}; expected 2, 4, ...")
        if type(self.start) is not int or self.start < 0:
            raise ValueError(f"rotary start {self.start!r}; expected 0, 1, ...")


# Larger integers are not exact in every language.
_LARGEST_NUMBER = 2**31 - 1

# The largest error of the sum of a row in bfloat16.
SUM_TOLERANCE = 2e-2

# The arrays checked so far, by field and id. They have been read-only since, so a layer that
# `replace` makes of another need not scan them again.
_checked: WeakValueDictionary[tuple[str, int], np.ndarray] = WeakValueDictionary()


@dataclass(frozen=True)
class Layer:
    """Queries, keys and the program of one layer, or its weights where no program holds.

    A layer without a softmax has signed coefficients in place of weights: by a `Recurrence`, or as
    they are.

    Attributes:
        queries: float32 [heads, Tq, d] as they enter the dot product, or None; of a recurrence,
            stored once for the heads that share them.
        keys: float32 [key heads, Tk, d], stored once for the query heads that share them, or None.
        program: computes scores, or coefficients, from queries and keys, or None.
        weights: float32 [heads, Tq, Tk], only if there is no program.
        fidelity: the route of capture and its errors.
        number: the layer's number in the model, counted from 0. Layers without attention, and
            layers that were not captured, leave gaps.
        values: float32 [key heads, Tk, d_v], averaged by the weights; None if not asked for.
        projection: float32 [heads, d_v, d_model], from a head's average to its share of the
            layer's output (without the output's bias); None if unknown or not asked for.
        rotary: the components of queries and keys that a rotary position embedding rotates in
            pairs; None if it rotates none, or the model's numbers do not confirm the pairs.
        coefficients: float32 [heads, Tq, Tk], in place of weights, of a layer without a softmax
            and without a program, whose channels mix tokens each by itself: the share of each key
            along the layer's whole output. Those of a query sum to 1 over all heads. Or sums of
            the coefficients of heads, to words or segments: see `of_channels`.
        gates: float32 [heads, Tq, d_v], by which a head's average is multiplied before the
            projection, where a gate or a norm stands between the two; None where nothing does, or
            that was not asked for.
    """

    queries: Floats | None
    keys: Floats | None
    program: ScoreProgram | Recurrence | None
    weights: Floats | None
    fidelity: Fidelity
    number: int = 0
    values: Floats | None = None
    projection: Floats | None = None
    rotary: Rotary | None = None
    coefficients: Floats | None = None
    gates: Floats | None = None

    def __post_init__(self) -> None:
        if (self.queries is None) != (self.keys is None):
            raise ValueError("a layer has both queries and keys, or neither")
        kept = self.weights if self.coefficients is None else self.coefficients
        if self.program is None and kept is None:
            raise ValueError("a layer without a program needs its weights, or its coefficients")
        if self.coefficients is not None and (self.program is not None or self.weights is not None):
            raise ValueError("a layer with coefficients has neither a program nor weights")
        if self.program is not None and self.queries is None:
            raise ValueError("a program needs queries and keys")
        if type(self.number) is not int or not 0 <= self.number <= _LARGEST_NUMBER:
            raise ValueError(f"layer number {self.number!r}; expected 0, 1, ...")
        for name in (
            "queries",
            "keys",
            "weights",
            "values",
            "projection",
            "coefficients",
            "gates",
        ):
            self._check_array(name)
        if self.queries is not None and self.keys is not None:
            if self.queries.shape[2] != self.keys.shape[2]:
                raise ValueError(
                    f"queries have {self.queries.shape[2]} dimensions per head, "
                    f"keys {self.keys.shape[2]}; they must agree"
                )
            if len(self.queries) % len(self.keys):
                raise ValueError(
                    f"{len(self.queries)} query heads cannot share {len(self.keys)} key heads"
                )
        if self.queries is not None and self.num_heads % len(self.queries):
            raise ValueError(f"{self.num_heads} heads cannot share {len(self.queries)} queries")
        if kept is not None and kept.shape != (self.num_heads, *self.shape):
            raise ValueError(
                f"attention of shape {list(kept.shape)} does not fit {self.num_heads} "
                f"heads of {self.shape[0]} queries and {self.shape[1]} keys"
            )
        if isinstance(self.program, Recurrence):
            assert self.queries is not None
            if self.shape[0] != self.shape[1]:
                raise ValueError("a recurrence reads its own tokens: as many queries as keys")
            self.program.check(self.num_heads, self.shape[0], self.queries.shape[2])
        elif self.program is not None:
            self.program.check(self.num_heads, *self.shape)
        if self.values is not None and (
            self.values.shape[1] != self.shape[1] or self.num_heads % len(self.values)
        ):
            raise ValueError(
                f"values of shape {list(self.values.shape)} do not fit {self.num_heads} heads and "
                f"{self.shape[1]} keys"
            )
        if self.projection is not None and (
            self.values is None
            or self.projection.shape[:2] != (self.num_heads, self.values.shape[2])
        ):
            raise ValueError(
                f"a projection of shape {list(self.projection.shape)} does not fit the values"
            )
        if self.gates is not None and (
            self.projection is None
            or self.gates.shape != (self.num_heads, self.shape[0], self.projection.shape[1])
        ):
            raise ValueError(f"gates of shape {list(self.gates.shape)} do not fit the projection")
        if self.rotary is not None and (
            self.queries is None or self.rotary.start + self.rotary.dims > self.queries.shape[2]
        ):
            raise ValueError(f"{self.rotary} does not fit the queries")

    def _check_array(self, name: str) -> None:
        # Numbers of users are checked before, in from_arrays, where a message can name their row.
        array = getattr(self, name)
        if array is None:
            return
        if array.dtype != np.float32 or array.ndim != 3 or 0 in array.shape:
            raise ValueError(
                f"{name} are {array.dtype} {list(array.shape)}; expected float32 with the three "
                "axes heads, tokens and dimensions (of weights: heads, queries and keys)"
            )
        key = name, id(array)
        if not array.flags.writeable and _checked.get(key) is array:
            return
        # A NaN makes both of them NaN.
        lowest, highest = float(array.min()), float(array.max())
        if not (math.isfinite(lowest) and math.isfinite(highest)):
            raise ValueError(f"{name} hold NaN or infinity, so no attention follows from them")
        if name == "weights" and lowest < 0:
            raise ValueError(
                "weights hold negative numbers, which no softmax gives; scores before the softmax, "
                "and differences of weights, cannot be shown as weights"
            )
        # A record does not change after its capture.
        array.flags.writeable = False
        _checked[key] = array

    @property
    def num_heads(self) -> int:
        """The number of query heads; of a recurrence, that of its strengths, which may be more."""
        if isinstance(self.program, Recurrence) and self.program.num_heads is not None:
            return self.program.num_heads
        array = self.queries if self.queries is not None else self._kept
        assert array is not None
        return len(array)

    @property
    def signed(self) -> bool:
        """True for a layer without a softmax: it has coefficients in place of weights."""
        return self.coefficients is not None or isinstance(self.program, Recurrence)

    @property
    def of_channels(self) -> bool:
        """True if its coefficients are contributions of channels, not sums of those of heads."""
        return self.coefficients is not None and self.fidelity.route != RECURRENCE

    @property
    def _kept(self) -> Floats | None:
        return self.weights if self.coefficients is None else self.coefficients

    @property
    def num_kv_heads(self) -> int:
        """The number of key heads; smaller than that of query heads if these share them."""
        return self.num_heads if self.keys is None else self.keys.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """(Tq, Tk)."""
        if self.queries is not None and self.keys is not None:
            return self.queries.shape[1], self.keys.shape[1]
        assert self._kept is not None
        return self._kept.shape[1], self._kept.shape[2]

    @property
    def row_sums(self) -> tuple[float, float] | None:
        """The least and the largest sum of a row, where rows of kept weights do not sum to 1.

        None for a layer with a score program, and if all rows sum to 1, within 2%, or to 0, as
        those of a query that sees no key do.
        """
        if self.program is not None or self.weights is None:
            return None
        sums = self.weights.sum(axis=2, dtype=np.float64)
        sums = sums[sums != 0]
        if not (np.abs(sums - 1) > SUM_TOLERANCE).any():
            return None
        return float(sums.min()), float(sums.max())

    def check_head(self, head: int) -> None:
        """Raise an IndexError unless there is such a head, and a TypeError for no number."""
        count = self.num_heads
        if not 0 <= one_number("head", head) < count:
            raise IndexError(
                f"head {head} does not exist: layer {self.number} has {count} heads, 0 to "
                f"{count - 1}"
            )

    def head_queries(self, head: int) -> Floats:
        """See `AttentionRecord.queries`."""
        if self.queries is None:
            raise ValueError(f"this layer was recorded as {self._kind} alone: it has no queries")
        queries: Floats = self.queries[head * len(self.queries) // self.num_heads]
        return queries

    def head_keys(self, head: int) -> Floats:
        """See `AttentionRecord.keys`."""
        if self.keys is None:
            raise ValueError(f"this layer was recorded as {self._kind} alone: it has no keys")
        keys: Floats = self.keys[head * self.num_kv_heads // self.num_heads]
        return keys

    @property
    def _kind(self) -> str:
        return "weights" if self.coefficients is None else "coefficients"

    def head_scores(self, head: int, rows: np.ndarray | None = None) -> Floats:
        """See `AttentionRecord.scores`; `rows` selects query positions."""
        self._check_softmax("scores")
        if self.program is None:
            raise ValueError("this layer was recorded as weights alone: it has no scores")
        assert isinstance(self.program, ScoreProgram)
        return self.program.scores(self.head_queries(head), self.head_keys(head), head, rows)

    def head_weights(self, head: int, rows: np.ndarray | None = None) -> Floats:
        """See `AttentionRecord.weights`; `rows` selects query positions."""
        self._check_softmax("weights")
        if self.program is None:
            assert self.weights is not None
            weights: Floats = self.weights[head]
            return weights if rows is None else weights[rows]
        assert isinstance(self.program, ScoreProgram)
        return self.program.softmax(self.head_scores(head, rows), head)

    def all_weights(self, rows: np.ndarray) -> Floats:
        """The weights of every head for some query positions: float32 [heads, rows, Tk]."""
        program = self.program
        if (
            not isinstance(program, ScoreProgram)
            or self.queries is None
            or self.keys is None
            or not program.same_heads
        ):
            return np.stack([self.head_weights(head, rows) for head in range(self.num_heads)])
        # The queries of all heads that share a key head are multiplied at once.
        queries = self.queries[:, rows].reshape(len(self.keys), -1, self.queries.shape[2])
        scores: Floats = queries @ self.keys.swapaxes(1, 2)
        scores *= np.float32(program.head_scale(0))
        scores = scores.reshape(self.num_heads, len(rows), -1)
        program.finish(scores, 0, rows, self.shape[0], range(self.shape[1]))
        return program.softmax(scores, 0)

    def head_coefficients(self, head: int, rows: np.ndarray | None = None) -> Floats:
        """See `AttentionRecord.coefficients`; `rows` selects query positions, increasing."""
        if not self.signed:
            raise ValueError(
                f"layer {self.number} has a softmax: its weights are not negative; see `weights`"
            )
        if self.coefficients is not None:
            kept: Floats = self.coefficients[head]
            return kept if rows is None else kept[rows]
        assert isinstance(self.program, Recurrence)
        rows = np.arange(self.shape[0]) if rows is None else rows
        queries, keys = self.head_queries(head), self.head_keys(head)
        return self.program.coefficients(queries, keys, head, rows)

    def head_numbers(self, head: int, rows: np.ndarray | None = None) -> Floats:
        """The numbers by which a head mixes tokens: its weights, or its coefficients."""
        return (self.head_coefficients if self.signed else self.head_weights)(head, rows)

    def head_shares(self, head: int, rows: np.ndarray | None = None) -> Floats:
        """The weights of a head; without a softmax, the magnitudes of a row's coefficients.

        Those are shares of their sum, so that a row sums to 1, or to 0 where all are 0.
        """
        if not self.signed:
            return self.head_weights(head, rows)
        return magnitude_shares(self.head_coefficients(head, rows))

    def _check_softmax(self, what: str) -> None:
        if self.signed:
            raise ValueError(
                f"layer {self.number} has no softmax, and so no {what}: it mixes tokens by signed "
                "coefficients, which do not sum to 1; see `coefficients`"
            )


def magnitude_shares(coefficients: NDArray[_Real]) -> NDArray[_Real]:
    """The magnitudes of coefficients [..., keys], as shares of their sum; 0 where all are 0."""
    sizes = np.abs(coefficients)
    sums = sizes.sum(axis=-1, keepdims=True)
    shares: NDArray[_Real] = sizes / np.where(sums > 0, sums, sums.dtype.type(1))
    return shares
