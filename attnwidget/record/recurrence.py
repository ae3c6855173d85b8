"""The recurrence: a program of signed coefficients, where a layer mixes tokens without a softmax.

Gated delta rules, Mamba-2 and linear attention write values into a state, and read it: their output
is linear in the values, so that each value has a coefficient. A layer is stored as queries, keys
and the strengths of writing, erasing and decay, instead of T x T coefficients.
`js/src/data/recurrence.ts` evaluates the same in the browser; `tests/vectors` holds the two equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from .scores import Floats

_Numbers = NDArray[np.float64]

# The exponential of a lower number is zero in single precision, so that it erases the state.
_LOWEST = np.float32(-104)
# That of this one is zero in double precision.
_GONE = -1000.0
# The tokens that are walked at once: fewer where every dimension has a decay of its own.
_BLOCK, _BLOCK_OF_DIMENSIONS = 64, 16


@dataclass(frozen=True)
class Recurrence:
    """coefficient(t, s) = write_s (k_s . p_s): p is the query t, walked back through the tokens.

    p_t = scale q_t, and p_(s-1) = exp(decay_s) * (p_s - erase_s (k_s . p_s) k_s): what was written
    at s is read at t after all tokens in between have erased and decayed it. The output at t is
    the sum over s <= t of the coefficients times values. Coefficients are of either sign, and do
    not sum to 1.

    Attributes:
        scale: factor on the queries.
        decay: float32 [heads, T, 1], or of each dimension [heads, T, d]; logarithms; None for none.
        write: float32 [heads, T], how strongly each value is written (beta of the delta rule, the
            step of Mamba-2); None for 1.
        erase: float32 [heads, T], the share of what the state holds at a token's key that is
            erased before (beta of the delta rule); None for 0.
        own: float32 [heads], added to the coefficient of each token's own value (D of Mamba-2);
            None for 0.
    """

    scale: float
    decay: Floats | None = None
    write: Floats | None = None
    erase: Floats | None = None
    own: Floats | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.scale, (int, float)) or not math.isfinite(self.scale):
            raise ValueError(f"a recurrence's scale is {self.scale!r}; expected a finite number")
        if self.decay is not None and self.decay.dtype == np.float32:
            # A state that is erased is as well at the lowest number, which is finite.
            object.__setattr__(self, "decay", np.maximum(self.decay, _LOWEST))
        for name, array in self.arrays.items():
            if array.dtype == np.float32 and not np.isfinite(array).all():
                raise ValueError(f"{name} holds NaN or infinity, so no coefficients follow from it")
            array.flags.writeable = False

    @property
    def arrays(self) -> dict[str, Floats]:
        """The arrays that there are, by name."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: each for name, each in own.items() if isinstance(each, np.ndarray)}

    @property
    def num_heads(self) -> int | None:
        """The number of heads that its arrays are of; None without arrays."""
        return next((len(array) for array in self.arrays.values()), None)

    def check(self, num_heads: int, num_tokens: int, dim: int) -> None:
        """Raise a ValueError unless the arrays fit a layer of this size."""
        of_tokens = [(num_heads, num_tokens)]
        for name, shapes in (
            ("decay", [(num_heads, num_tokens, 1), (num_heads, num_tokens, dim)]),
            ("write", of_tokens),
            ("erase", of_tokens),
            ("own", [(num_heads,)]),
        ):
            array = getattr(self, name)
            if array is not None and (array.dtype != np.float32 or array.shape not in shapes):
                raise ValueError(
                    f"{name} is {array.dtype} {list(array.shape)}; expected float32 of shape "
                    f"{' or '.join(str(list(s)) for s in shapes)}"
                )

    def coefficients(
        self, queries: Floats, keys: Floats, head: int, rows: NDArray[np.intp]
    ) -> Floats:
        """The coefficients of one head.

        Args:
            queries, keys: float32 [T, d], of the heads that this one uses.
            head: selects its strengths.
            rows: query positions, increasing.

        Returns:
            float32 [rows, T]; zero for later tokens.
        """
        # Differences of summed logarithms, and steps that turn a key around, need the digits.
        walked, places = queries[rows].astype(np.float64) * self.scale, keys.astype(np.float64)
        logs, erase = self._logs(head, len(keys)), self.erase
        out = np.zeros((len(rows), len(keys)))
        size = _BLOCK if logs.shape[1] == 1 else _BLOCK_OF_DIMENSIONS
        # Of a block of tokens, all that a query reads follows from a triangular system.
        for start in range(int(rows[-1]) // size * size, -1, -size):
            block = slice(start, min(start + size, len(keys)))
            first, later = np.searchsorted(rows, (block.start, block.stop))
            # Rows of later blocks begin at the last token.
            ends = np.minimum(rows[first:], block.stop - 1) - start
            inside, of, summed = ends[: later - first], places[block], logs[block].cumsum(axis=0)
            kept = _kept_between(summed)
            read = np.concatenate(
                [
                    _products(walked[first:later], of, kept[inside]),
                    walked[later:] @ (of * kept[-1]).T,
                ]
            )
            left = np.exp(summed)
            passed = walked[first:]
            passed *= left[ends]
            if erase is not None:
                # What s reads is less, for each u > s, erase_u times what u reads of key u.
                gone = erase[head, block]
                system = np.tril(_products(of, of, kept) * gone[:, None], -1)
                np.fill_diagonal(system, 1)
                read = read @ np.linalg.inv(system)
                passed -= (read * gone) @ (of * left)
            out[first:, block] = read
        if self.write is not None:
            out *= self.write[head]
        if self.own is not None:
            out[np.arange(len(rows)), rows] += self.own[head]
        return out.astype(np.float32)

    def walked(self, query: Floats, keys: Floats, head: int) -> Floats:
        """The query of the last of some tokens, walked back to each of them: p of `coefficients`.

        Args:
            query: float32 [d].
            keys: float32 [tokens, d], up to the query's own.
            head: as of `coefficients`.

        Returns:
            float32 [tokens, d].
        """
        p, found = query.astype(np.float64) * self.scale, np.empty_like(keys)
        kept = np.exp(self._logs(head, len(keys)))
        for at in range(len(keys) - 1, -1, -1):
            found[at] = p
            if self.erase is not None:
                p = p - self.erase[head, at] * (keys[at] @ p) * keys[at]
            p = p * kept[at]
        return found

    def _logs(self, head: int, num_tokens: int) -> _Numbers:
        """The logarithms of a head's decay for its first tokens, [tokens, 1] or [tokens, d]."""
        if self.decay is None:
            return np.zeros((num_tokens, 1))
        decay = self.decay[head, :num_tokens].astype(np.float64)
        return np.where(decay > _LOWEST, decay, _GONE)


def _kept_between(logs: _Numbers) -> _Numbers:
    """The share of each token of a block that is left at later ones: [T, T, 1], or [T, T, d].

    Args:
        logs: those of the decay, summed from the block's first token on.
    """
    since = logs[:, None] - logs
    since[np.triu_indices(len(logs), 1)] = -np.inf
    kept: _Numbers = np.exp(since, out=since)
    return kept


def _products(queries: _Numbers, keys: _Numbers, kept: _Numbers) -> _Numbers:
    """The products of queries and of what is kept of keys: [queries, keys]."""
    if kept.shape[2] == 1:
        found: _Numbers = (queries @ keys.T) * kept[..., 0]
        return found
    found = ((kept * keys) @ queries[:, :, None])[..., 0]
    return found
