"""The components of vectors that were turned together, from the vectors before and after.

A turn by any angle keeps the norm of a pair. The first pair turns the fastest, so that it is seen
even in few tokens, and the distance of its components is that of all the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Rotary
from attnwidget.record.scores import Bools

Doubles = NDArray[np.float64]

# By so many eps of its type, relative to itself, rounding may change the squared norm of a pair.
_ROUNDING = 8

# In so many vectors, a pair must be expected to have moved, for it to count as not turned.
_SEEN = 8


def turned_pairs(before: Doubles, after: Doubles, tokens: int, eps: float) -> Rotary | None:
    """The one pairing that agrees with all vectors [n, d]; None if none does, or several.

    Args:
        before, after: the same vectors; they may have been scaled as well.
        tokens: the length of the sequence that they are from.
        eps: of the floating-point type in which they were computed.
    """
    moved = _moved(before, after, eps)
    components = np.flatnonzero(moved.any(axis=0))
    if not len(components):
        return None
    start = int(components[0])
    # Components come in pairs, of which one may not have moved by chance.
    end = min(start + (int(components[-1]) - start) // 2 * 2 + 2, moved.shape[1])
    found = _Turn(before, after, moved, tokens, eps).pairings(start, end)
    if not found:
        # DeepSeek-V3 and its descendants turn neighbours, and move them apart as they do so.
        apart = before.copy()
        apart[:, start:end] = np.hstack([before[:, start:end:2], before[:, start + 1 : end : 2]])
        found = _Turn(apart, after, moved, tokens, eps).pairings(start, end)
        found = [rotary for rotary in found if rotary == Rotary("halves", end - start, start)]
    return found[0] if len(found) == 1 else None


def _moved(before: Doubles, after: Doubles, eps: float) -> Bools:
    """[n, d]: what is neither as it was, nor only scaled as its whole vector."""
    scaled = _scale(before, after) * before
    moved: Bools = (after != before) & (np.abs(after - scaled) > 4 * eps * np.abs(after))
    return moved


def _scale(before: Doubles, after: Doubles) -> Doubles:
    """[n, 1]: by how much each vector has become longer."""
    old, new = (np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in (before, after))
    scale: Doubles = np.divide(new, old, out=np.ones_like(new), where=old > 0)
    return scale


class _Turn:
    """The changes that a turn made, and those that it can have made."""

    def __init__(
        self, before: Doubles, after: Doubles, moved: Bools, tokens: int, eps: float
    ) -> None:
        turned = moved.any(axis=0)  # the others may be without the scale of these
        self._before = _scale(before[:, turned], after[:, turned]) * before
        self._after, self._moved, self._tokens, self._eps = after, moved, tokens, eps
        old, new = np.square(self._before), np.square(after)
        # Over a pair, gains add up to nothing but this rounding.
        self._gain, self._rounding = new - old, _ROUNDING * eps * (new + old)

    def pairings(self, start: int, end: int) -> list[Rotary]:
        """All that fit and turn the component `start`, none before it, and none from `end` on.

        Not of a single pair, whose distance would be both.
        """
        if not (np.abs(self._gain) > self._rounding)[:, start].any():
            return []  # scaled, not turned
        found = []
        every = np.arange(self._gain.shape[1])
        for partner in every[self._are_pairs(every[start : start + 1], every)]:
            distance, stop = int(partner) - start, 2 * int(partner) - start
            if distance < 2 or not end <= stop <= len(every):
                continue
            if self._are_pairs(every[start:partner], every[partner:stop]).all():
                found.append(Rotary("halves", 2 * distance, start))
        evens = every[start : end - 1 : 2]
        if len(evens) > 1 and self._are_pairs(evens, evens + 1).all() and self._ends(start, end):
            found.append(Rotary("neighbours", 2 * len(evens), start))
        return found

    def _are_pairs(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Bools:
        gain = self._gain[:, first] + self._gain[:, second]
        rounding = self._rounding[:, first] + self._rounding[:, second]
        fit: Bools = (np.abs(gain) <= rounding).all(axis=0)
        return fit

    def _ends(self, start: int, end: int) -> bool:
        """True if neighbours from `end` on would have been seen to move, had they been turned.

        Of a rotary embedding, each pair turns slower than the one before by the same factor. The
        first turns by a radian per token at most, from which that factor follows.
        """
        if end == self._moved.shape[1]:
            return True
        first, last = slice(start, start + 2), slice(end - 2, end)
        rows = self._moved[:, first].any(axis=1)
        way = np.linalg.norm((self._after - self._before)[rows, last])
        angle = way / max(np.linalg.norm(self._before[rows, last]), 1e-300)
        factor = (angle / self._tokens) ** (1 / ((end - start) // 2 - 1))
        # Rounding hides most of what is less than an eps.
        seen = rows.sum() * min(1, angle * factor / self._eps)
        return bool(seen >= _SEEN)
