"""Detection of rotated pairs of components, from vectors before and after a rotary embedding.

A rotation keeps the norm of a pair. The first pair rotates the fastest, so it shows even in few
tokens, and the distance of its components is that of all other pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Rotary
from attnwidget.record.scores import Bools

Doubles = NDArray[np.float64]

# The largest relative change of a pair's squared norm by rounding, in eps of its type.
_ROUNDING = 8

# A pair counts as not rotated if it would be expected to move in as many vectors.
_EXPECTED_MOVES = 8


def turned_pairs(before: Doubles, after: Doubles, tokens: int, eps: float) -> Rotary | None:
    """The only pairing that agrees with all vectors [n, d]; None if none or several do.

    Args:
        before, after: the vectors before and after the rotation, which may also scale them.
        tokens: the length of their sequence.
        eps: of the floating-point type in which they were computed.
    """
    moved = _moved(before, after, eps)
    components = np.flatnonzero(moved.any(axis=0))
    if not len(components):
        return None
    start = int(components[0])
    # Components come in pairs; one of a pair may not have moved by chance.
    end = min(start + (int(components[-1]) - start) // 2 * 2 + 2, moved.shape[1])
    pairings = _Rotation(before, after, moved, tokens, eps).pairings(start, end)
    if not pairings:
        # DeepSeek-V3 and its descendants rotate neighbours, and then move these into two halves.
        halves = before.copy()
        halves[:, start:end] = np.hstack([before[:, start:end:2], before[:, start + 1 : end : 2]])
        pairings = _Rotation(halves, after, moved, tokens, eps).pairings(start, end)
        pairings = [rotary for rotary in pairings if rotary == Rotary("halves", end - start, start)]
    return pairings[0] if len(pairings) == 1 else None


def agrees(rotary: Rotary, before: Doubles, after: Doubles, tokens: int, eps: float) -> bool:
    """True if vectors [n, d] agree with these pairs, and at least the first pair was rotated.

    Args:
        before, after, tokens, eps: as in `turned_pairs`.
    """
    moved = _moved(before, after, eps)
    end = rotary.start + rotary.dims
    if moved[:, : rotary.start].any() or moved[:, end:].any() or not moved[:, rotary.start].any():
        return False
    return _Rotation(before, after, moved, tokens, eps).has(rotary)


def _moved(before: Doubles, after: Doubles, eps: float) -> Bools:
    """True [n, d] for components that changed by more than the scale of their vector."""
    scaled = _scale(before, after) * before
    moved: Bools = (after != before) & (np.abs(after - scaled) > 4 * eps * np.abs(after))
    return moved


def _scale(before: Doubles, after: Doubles) -> Doubles:
    """The factor [n, 1] by which each vector became longer."""
    # Ten times as fast as numpy's norm for vectors as short.
    old, new = (np.sqrt(np.einsum("ij,ij->i", v, v))[:, None] for v in (before, after))
    scale: Doubles = np.divide(new, old, out=np.ones_like(new), where=old > 0)
    return scale


class _Rotation:
    """The changes by a rotation, and the pairings that can have made them."""

    def __init__(
        self, before: Doubles, after: Doubles, moved: Bools, tokens: int, eps: float
    ) -> None:
        turned = moved.any(axis=0)  # the other components may have another scale
        self._before = _scale(before[:, turned], after[:, turned]) * before
        self._after, self._moved, self._tokens, self._eps = after, moved, tokens, eps
        old, new = np.square(self._before), np.square(after)
        # The gains of a pair add up to zero, up to this rounding.
        self._gain, self._rounding = new - old, _ROUNDING * eps * (new + old)

    def has(self, rotary: Rotary) -> bool:
        """True if the vectors fit these pairs."""
        components = rotary.start + np.arange(rotary.dims)
        if rotary.pairs == "halves":
            first, second = components[: rotary.dims // 2], components[rotary.dims // 2 :]
        else:
            first, second = components[::2], components[1::2]
        return self._turns(rotary.start) and bool(self._are_pairs(first, second).all())

    def _turns(self, start: int) -> bool:
        """True if the first component is rotated, not scaled."""
        return bool((np.abs(self._gain) > self._rounding)[:, start].any())

    def pairings(self, start: int, end: int) -> list[Rotary]:
        """All pairings that fit the vectors and rotate components from `start` to `end`.

        A single pair would be ambiguous, and is left out.
        """
        if not self._turns(start):
            return []
        pairings = []
        components = np.arange(self._gain.shape[1])
        for partner in components[self._are_pairs(components[start : start + 1], components)]:
            distance, stop = int(partner) - start, 2 * int(partner) - start
            if distance < 2 or not end <= stop <= len(components):
                continue
            if self._are_pairs(components[start:partner], components[partner:stop]).all():
                pairings.append(Rotary("halves", 2 * distance, start))
        evens = components[start : end - 1 : 2]
        if len(evens) > 1 and self._are_pairs(evens, evens + 1).all() and self._ends(start, end):
            pairings.append(Rotary("neighbours", 2 * len(evens), start))
        return pairings

    def _are_pairs(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Bools:
        gain = self._gain[:, first] + self._gain[:, second]
        rounding = self._rounding[:, first] + self._rounding[:, second]
        fit: Bools = (np.abs(gain) <= rounding).all(axis=0)
        return fit

    def _ends(self, start: int, end: int) -> bool:
        """True if neighbours from `end` on would have moved visibly, had they been rotated.

        Each pair of a rotary embedding rotates slower than the pair before by the same factor. The
        first rotates by at most a radian per token, which gives that factor.
        """
        if end == self._moved.shape[1]:
            return True
        first, last = slice(start, start + 2), slice(end - 2, end)
        rows = self._moved[:, first].any(axis=1)
        distance = np.linalg.norm((self._after - self._before)[rows, last])
        angle = distance / max(np.linalg.norm(self._before[rows, last]), 1e-300)
        factor = (angle / self._tokens) ** (1 / ((end - start) // 2 - 1))
        # Rounding hides most movements below an eps.
        expected = rows.sum() * min(1, angle * factor / self._eps)
        return bool(expected >= _EXPECTED_MOVES)
