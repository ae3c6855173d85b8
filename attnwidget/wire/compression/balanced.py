"""Quantization of queries and keys to the integers that cost the fewest bits for their error.

Scores are q · k, and do not change if queries are multiplied by any matrix W and keys by its
inverse, transposed. One W makes the components of both uncorrelated with equal variances, like the
balanced coordinates of a linear system (Moore 1981, doi:10.1109/TAC.1981.1102568). With it, one
step for all components of both costs the fewest bits.

W is A R C: two diagonals of powers of 2**(1/4), and between them a matrix R of small integers, or
none. Rounding W costs no accuracy, because queries and keys are multiplied by the rounded matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import SINGLE_THREADED
from attnwidget.record import Floats

Doubles = NDArray[np.float64]

# Exponents of the diagonals count quarters of an octave.
_PER_OCTAVE = 4
# Entries of R are rounded to this share of their typical magnitude.
_COARSENESS = 3 / 8
# Variances below this share of the largest are noise of float32.
_FLOOR = 1e-6
# A worse condition of R would make its inverse inexact.
_WORST_CONDITION = 1e4
# Entries of R are sent as signed bytes.
_LARGEST_TURN = 127
# With more, layers take no fewer bytes.
_ITERATIONS = 4
# The bits of an entry of R, about.
_TURN_BITS = 3.5


@dataclass(frozen=True)
class Basis:
    """The matrices W of all groups; a group has the query heads of one key head.

    Attributes:
        outer: int8 [groups, d], exponents of A.
        turns: int32 [groups, d, d], R; None for the unit matrix.
        inner: int8 [groups, d], exponents of C.
    """

    outer: NDArray[np.int8]
    turns: NDArray[np.int32] | None
    inner: NDArray[np.int8]

    @cached_property
    def matrices(self) -> Doubles:
        """The matrices W [groups, d, d]."""
        outer, inner = (np.exp2(e / _PER_OCTAVE) for e in (self.outer, self.inner))
        turns = np.eye(outer.shape[1])[None] if self.turns is None else self.turns
        matrices: Doubles = (outer[:, :, None] * turns * inner[:, None, :]).astype(float)
        return matrices

    @cached_property
    def inverses(self) -> Doubles:
        """Their inverses [groups, d, d]."""
        inverses: Doubles = np.asarray(np.linalg.inv(self.matrices), float)
        return inverses


@dataclass(frozen=True)
class Turned:
    """Queries and keys in a basis: [heads, tokens, d] and [key heads, tokens, d]."""

    queries: Doubles
    keys: Doubles
    basis: Basis

    def rounded(self, step: float) -> tuple[Doubles, Doubles]:
        """(queries, keys) as the integers that are sent, which are multiples of the step."""
        single = float(np.float32(step))
        return np.rint(self.queries / single), np.rint(self.keys / single)

    def received(self, step: float) -> tuple[Floats, Floats]:
        """(queries, keys) as the browser decodes them."""
        queries, keys = self.rounded(step)
        matrices = self.basis.matrices
        share = len(queries) // len(keys)
        single = float(np.float32(step))
        turns = (single * self.basis.inverses).repeat(share, axis=0)
        back = (single * matrices).transpose(0, 2, 1)
        return _times(queries, turns).astype(np.float32), _times(keys, back).astype(np.float32)

    def bits(self, step: float) -> float:
        """The bits that the coefficients and the basis take, about.

        That is the entropy of normal distributions (Cover & Thomas 2006, theorem 8.4.1), with the
        variance of the rounding.
        """
        total = 0.0
        for array in (self.queries, self.keys):
            variance = array.var(axis=1) / step**2 + 1 / 12
            total += array.shape[1] * float(np.log2(2 * np.pi * np.e * variance).sum()) / 2
        return total if self.basis.turns is None else total + _TURN_BITS * self.basis.turns.size

    @property
    def norm(self) -> float:
        """The root of the mean square of a query and a key together, over all tokens and heads."""
        both = self.queries, self.keys
        return float(np.sqrt(sum(np.square(array).sum(axis=2).mean() for array in both)))


def turned(queries: Floats, keys: Floats, basis: Basis) -> Turned:
    share = len(queries) // len(keys)
    back = basis.inverses.transpose(0, 2, 1)
    return Turned(
        _times(queries.astype(float), basis.matrices.repeat(share, axis=0)),
        _times(keys.astype(float), back),
        basis,
    )


def bases(queries: Floats, keys: Floats) -> list[Basis]:
    """The balanced basis, and the best one of diagonals alone, which costs fewer bytes to send."""
    moments = _Moments(queries.astype(float), keys.astype(float))
    unit = np.eye(keys.shape[2])[None]
    outer = _exponents(moments.scale(unit))
    plain = Basis(np.zeros_like(outer), None, outer)
    if np.sqrt(keys.shape[2]) / _COARSENESS > _LARGEST_TURN:
        return [plain]
    try:
        scale = np.exp2(outer / _PER_OCTAVE)
        turns = _turns(moments, scale)
        matrices: Doubles = scale[:, :, None] * turns
        norms = np.linalg.norm(matrices, axis=1, keepdims=True)
        if (np.linalg.cond(matrices / norms, 1) > _WORST_CONDITION).any():
            return [plain]
        return [plain, Basis(outer, turns, _exponents(moments.scale(matrices)))]
    except np.linalg.LinAlgError:
        return [plain]


class _Moments:
    """The second moments of queries and keys, by group: [groups, d, d].

    Args:
        queries: [heads, Tq, d].
        keys: [groups, Tk, d].
    """

    def __init__(self, queries: Doubles, keys: Doubles) -> None:
        groups, num_keys, dim = keys.shape
        # A softmax does not see a mean of all keys, but a key's error is multiplied with the whole
        # query.
        centred = (queries - queries.mean(axis=1, keepdims=True)).reshape(groups, -1, dim)
        own = queries.reshape(groups, -1, dim)
        self.queries = _floored(_moment(centred))
        self.power = _floored(_moment(own))
        self.keys = _floored(_moment(keys - keys.mean(axis=1, keepdims=True)))
        # If queries outnumber keys, finer keys are the cheaper way to the same error.
        self.ratio = num_keys / own.shape[1]

    def scale(self, matrices: Doubles) -> Doubles:
        """The factors [groups, d] of the columns of `matrices` that give the smallest error."""
        inverses = np.linalg.inv(matrices)
        power = (matrices * (self.power @ matrices)).sum(axis=1)
        keys = (inverses * (inverses @ self.keys)).sum(axis=2)
        scale: Doubles = (self.ratio * keys / power) ** 0.25
        return scale


def _pieces(vectors: Doubles) -> Iterator[slice]:
    """Split vectors [..., tokens, d] so that OpenBLAS multiplies each piece in one thread.

    Distributing so small a product to threads would take longer than the product.
    """
    _, tokens, dim = vectors.shape
    size = max(1, SINGLE_THREADED // dim**2)
    for start in range(0, tokens, size):
        yield slice(start, start + size)


def _times(vectors: Doubles, matrices: Doubles) -> Doubles:
    """Vectors [heads, tokens, d] @ matrices [heads, d, d]."""
    out = np.empty_like(vectors)
    for piece in _pieces(vectors):
        np.matmul(vectors[:, piece], matrices, out=out[:, piece])
    return out


def _moment(vectors: Doubles) -> Doubles:
    """The mean product of components [groups, d, d] of vectors [groups, tokens, d]."""
    groups, tokens, dim = vectors.shape
    total: Doubles = np.zeros((groups, dim, dim))
    for piece in _pieces(vectors):
        total += vectors[:, piece].transpose(0, 2, 1) @ vectors[:, piece]
    total /= tokens
    return total


def _floored(covariances: Doubles) -> Doubles:
    """Make covariances positive definite, so that constant components do not divide by zero."""
    largest = np.einsum("gii->gi", covariances).max(axis=1)
    largest = np.maximum(largest, np.finfo(np.float32).tiny)[:, None, None]
    floored: Doubles = covariances + _FLOOR * largest * np.eye(covariances.shape[1])
    return floored


def _exponents(scale: Doubles) -> NDArray[np.int8]:
    exponents = np.rint(_PER_OCTAVE * np.log2(scale))
    fitting: NDArray[np.int8] = np.clip(exponents, -128, 127).astype(np.int8)
    return fitting


def _turns(moments: _Moments, scale: Doubles) -> NDArray[np.int32]:
    """R: the balanced basis after the diagonal `scale`, with columns scaled and rounded."""
    rows, columns = scale[:, :, None], scale[:, None, :]
    queries = np.linalg.cholesky(rows * moments.queries * columns)
    keys = np.linalg.cholesky(moments.keys / rows / columns)
    basis = keys @ _right_vectors(queries.transpose(0, 2, 1) @ keys)
    unit = np.sqrt(basis.shape[1]) / _COARSENESS
    norms = np.linalg.norm(basis, axis=1, keepdims=True)
    turns: NDArray[np.int32] = np.rint(basis * (unit / norms)).astype(np.int32)
    return turns


def _right_vectors(matrices: Doubles) -> Doubles:
    """The right singular vectors of matrices [groups, d, d] as columns, nearly.

    After a few steps of orthogonal iteration (Golub & Van Loan 2013, section 8.2.4), only vectors
    of nearly the same singular value are still mixed, which costs no bits. OpenBLAS distributes a
    singular value decomposition of 48 to 96 rows to all threads, whose waiting takes many times
    longer than its work.
    """
    squares = matrices.transpose(0, 2, 1) @ matrices
    squares /= np.trace(squares, axis1=1, axis2=2)[:, None, None]
    squares = squares @ squares
    vectors: Doubles = np.eye(matrices.shape[1])[None]
    for _ in range(_ITERATIONS):
        vectors, _ = np.linalg.qr(squares @ vectors)
    return vectors
