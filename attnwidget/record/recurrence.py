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

# The exponential of a lower number is zero in single precision, so that it erases the state.
_LOWEST = np.float32(-104)


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
        walked = queries[rows] * np.float32(self.scale)
        out = np.zeros((len(rows), len(keys)), np.float32)
        decay, erase = self.decay, self.erase
        kept = None if decay is None else np.exp(decay[head])
        # The first row that each token is read by.
        begins = np.searchsorted(rows, np.arange(len(keys)))
        for at in range(int(rows[-1]), -1, -1):
            reading, key = walked[begins[at] :], keys[at]
            read = out[begins[at] :, at] = reading @ key
            if erase is not None:
                reading -= (erase[head, at] * read)[:, None] * key
            if kept is not None:
                reading *= kept[at]
        if self.write is not None:
            out *= self.write[head]
        if self.own is not None:
            out[np.arange(len(rows)), rows] += self.own[head]
        return out
