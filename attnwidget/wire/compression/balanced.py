"""Quantization of queries and keys to the integers that cost the fewest bits for their error.

Scores are q · k, and do not change if queries are multiplied by any matrix W and keys by its
inverse, transposed. One W makes the components of both uncorrelated with equal variances, like the
balanced coordinates of a linear system (Moore 1981, doi:10.1109/TAC.1981.1102568). With it, one
step for all components of both costs the fewest bits.

W is A R C: two diagonals of powers of 2**(1/4), and between them a matrix R of small integers, or
none. Rounding W costs no accuracy, because queries and keys are multiplied by the rounded matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats

Doubles = NDArray[np.float64]

# Exponents of the diagonals count quarters of an octave.
_PER_OCTAVE = 4
# Entries of R are rounded to this share of their typical magnitude.
_COARSENESS = 3 / 8
# Variances below this share of the largest are noise of float32.
_FLOOR = 1e-6


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

    def matrices(self) -> Doubles:
        """The matrices W [groups, d, d]."""
        outer, inner = (np.exp2(e / _PER_OCTAVE) for e in (self.outer, self.inner))
        turns = np.eye(outer.shape[1])[None] if self.turns is None else self.turns.astype(float)
        matrices: Doubles = outer[:, :, None] * turns * inner[:, None, :]
        return matrices


@dataclass(frozen=True)
class Coefficients:
    """The integers that are sent, [heads, d, Tq] and [key heads, d, Tk], with step and basis."""

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    step: np.float32
    basis: Basis

    def vectors(self) -> tuple[Floats, Floats]:
        """(queries, keys) as the browser decodes them."""
        matrices = self.basis.matrices()
        inverses = np.linalg.inv(matrices)
        share = len(self.queries) // len(self.keys)
        step = float(self.step)
        queries = np.stack(
            [(step * z.T) @ inverses[head // share] for head, z in enumerate(self.queries)]
        )
        keys = np.stack([(step * z.T) @ w.T for z, w in zip(self.keys, matrices, strict=True)])
        return queries.astype(np.float32), keys.astype(np.float32)


@dataclass(frozen=True)
class Turned:
    """Queries and keys in a basis: [heads, d, Tq] and [key heads, d, Tk]."""

    queries: Doubles
    keys: Doubles
    basis: Basis

    def rounded(self, step: float) -> Coefficients:
        single = np.float32(step)
        queries, keys = (
            np.rint(turned / float(single)).astype(np.int64) for turned in (self.queries, self.keys)
        )
        return Coefficients(queries, keys, single, self.basis)


def turned(queries: Floats, keys: Floats, basis: Basis) -> Turned:
    matrices = basis.matrices()
    inverses = np.linalg.inv(matrices)
    share = len(queries) // len(keys)
    return Turned(
        np.stack([matrices[h // share].T @ q.T.astype(float) for h, q in enumerate(queries)]),
        np.stack([inverse @ k.T.astype(float) for k, inverse in zip(keys, inverses, strict=True)]),
        basis,
    )


def bases(queries: Floats, keys: Floats) -> list[Basis]:
    """The balanced basis, and the best one of diagonals alone, which costs fewer bytes to send."""
    share = len(queries) // len(keys)
    groups = [
        _Moments(queries[share * n : share * (n + 1)].astype(float), key.astype(float))
        for n, key in enumerate(keys)
    ]
    outer = np.stack([_exponents(group.scale(np.eye(len(group.keys)))) for group in groups])
    plain = Basis(np.zeros_like(outer), None, outer)
    try:
        turns = np.stack(
            [_turns(g, np.exp2(e / _PER_OCTAVE)) for g, e in zip(groups, outer, strict=True)]
        )
        both = [np.exp2(e / _PER_OCTAVE)[:, None] * t for e, t in zip(outer, turns, strict=True)]
        if any(np.linalg.cond(matrix / np.linalg.norm(matrix, axis=0)) > 1e4 for matrix in both):
            return [plain]
        inner = np.stack([_exponents(g.scale(w)) for g, w in zip(groups, both, strict=True)])
    except np.linalg.LinAlgError:
        return [plain]
    return [plain, Basis(outer, turns, inner)]


class _Moments:
    """The second moments of a group's queries [heads, Tq, d] and keys [Tk, d]."""

    def __init__(self, queries: Doubles, keys: Doubles) -> None:
        dim = keys.shape[1]
        # A softmax does not see a mean of all keys, but a key's error is multiplied with the whole
        # query.
        centred = (queries - queries.mean(axis=1, keepdims=True)).reshape(-1, dim)
        flat = queries.reshape(-1, dim)
        self.queries = _floored(centred.T @ centred / len(centred))
        self.power = _floored(flat.T @ flat / len(flat))
        self.keys = _floored(np.cov(keys, rowvar=False, bias=True).reshape(dim, dim))
        # If queries outnumber keys, finer keys are the cheaper way to the same error.
        self.ratio = len(keys) / len(flat)

    def scale(self, matrix: Doubles) -> Doubles:
        """The factors of the columns of `matrix` that give the smallest error."""
        inverse = np.linalg.inv(matrix)
        power = np.einsum("ij,ik,kj->j", matrix, self.power, matrix, optimize=True)
        keys = np.einsum("ji,ik,jk->j", inverse, self.keys, inverse, optimize=True)
        scale: Doubles = (self.ratio * keys / power) ** 0.25
        return scale


def _floored(covariance: Doubles) -> Doubles:
    """Make a covariance positive definite, so that constant components do not divide by zero."""
    largest = max(float(np.diag(covariance).max()), np.finfo(np.float32).tiny)
    floored: Doubles = covariance + _FLOOR * largest * np.eye(len(covariance))
    return floored


def _exponents(scale: Doubles) -> NDArray[np.int8]:
    exponents = np.rint(_PER_OCTAVE * np.log2(scale))
    fitting: NDArray[np.int8] = np.clip(exponents, -128, 127).astype(np.int8)
    return fitting


def _turns(group: _Moments, outer: Doubles) -> NDArray[np.int32]:
    """R: the balanced basis after the diagonal `outer`, with columns scaled and rounded."""
    queries = np.linalg.cholesky(outer[:, None] * group.queries * outer)
    keys = np.linalg.cholesky(group.keys / outer[:, None] / outer)
    _, values, right = np.linalg.svd(queries.T @ keys)
    basis = keys @ right.T / np.sqrt(values)
    unit = np.sqrt(len(basis)) / _COARSENESS
    turns: NDArray[np.int32] = np.rint(basis * (unit / np.linalg.norm(basis, axis=0))).astype(
        np.int32
    )
    return turns
