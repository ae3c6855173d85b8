"""Similarity of heads: how alike their weights are on the same rows of the same texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.arguments import whole
from attnwidget.extras import extra
from attnwidget.record import Floats

from .accumulators import groups
from .stack_profile import SampledRows, StackProfile

# The share of a row that is spread evenly over its keys, so that no logarithm is infinite.
_SMOOTHING = 0.001


class Head(NamedTuple):
    """A head, by the number of its layer in the model and its own."""

    layer: int
    head: int


@dataclass(frozen=True)
class Neighbour:
    """A head that is near another.

    Attributes:
        head: the head.
        distance: the Jensen-Shannon divergence of their weights, in nats.
    """

    head: Head
    distance: float


@dataclass(frozen=True)
class HeadSimilarity:
    """The distances between all heads of a stack.

    Attributes:
        heads: the heads, in order.
        distances: the Jensen-Shannon divergence of two heads' weights in nats, the mean over the
            sampled rows: float64 [heads, heads], from 0 (alike) to log 2.
        num_rows: the number of rows.
        seed: of the profile, and so of `positions`.
    """

    heads: tuple[Head, ...]
    distances: Numbers
    num_rows: int
    seed: int

    def nearest(self, layer: int, head: int, count: int = 5) -> tuple[Neighbour, ...]:
        """The heads that are most like a head, the nearest first.

        Raises:
            IndexError: there is no such head.
        """
        if Head(layer, head) not in self.heads:
            raise IndexError(f"there is no head {layer}-{head}")
        distances = self.distances[self.heads.index(Head(layer, head))]
        order = [n for n in np.argsort(distances, kind="stable") if self.heads[n] != (layer, head)]
        return tuple(Neighbour(self.heads[n], float(distances[n])) for n in order[:count])

    def positions(self) -> Numbers:
        """Two coordinates for each head, [heads, 2]: like heads lie together.

        Multidimensional scaling (metric, the best of five starts) by scikit-learn; Clark et al.
        2019, figure 6.

        Raises:
            ModuleNotFoundError: scikit-learn is not installed.
        """
        with extra("analysis", "this needs scikit-learn"):
            from sklearn.manifold import MDS
        if not self.distances.any():  # one head, as of a layer of channels
            return np.zeros((len(self.heads), 2))
        options: dict[str, Any] = {"n_init": 5, "random_state": self.seed}
        if hasattr(MDS(), "metric_mds"):  # since scikit-learn 1.8
            options |= {"metric": "precomputed", "init": "random"}
        else:
            options |= {"dissimilarity": "precomputed"}
        positions: Numbers = MDS(2, **options).fit_transform(self.distances)
        return positions

    def clusters(self, count: int) -> NDArray[np.int64]:
        """A cluster's number, counted from 0, for each head: int64 [heads].

        Average linkage, cut so that there are at most `count` clusters, by scipy.

        Raises:
            ValueError: `count` is not a number from 1 to that of the heads.
            ModuleNotFoundError: scipy is not installed.
        """
        with extra("analysis", "this needs scipy"):
            from scipy.cluster.hierarchy import fcluster, linkage
            from scipy.spatial.distance import squareform
        most = len(self.heads)
        if whole(1, f"a number from 1 to {most}")("count", count) > most:
            raise ValueError(f"count is {count!r}; expected a number from 1 to {most}")
        if len(self.heads) == 1:
            return np.zeros(1, np.int64)
        tree = linkage(squareform(self.distances, checks=False), "average")
        clusters: NDArray[np.int64] = fcluster(tree, count, "maxclust").astype(np.int64) - 1
        return clusters


def similarity(stack: StackProfile, seed: int) -> HeadSimilarity:
    """The distances between all heads of a stack, on its sampled rows.

    Raises:
        ValueError: there are no sampled rows.
    """
    rows = stack.rows
    if not len(rows.keys):
        raise ValueError("the profile has no sampled rows: no text was read by every layer")
    weights = distributions(stack, rows)
    return HeadSimilarity(
        heads_of(stack), distances_between(weights, weights), len(rows.keys), seed
    )


def heads_of(stack: StackProfile) -> tuple[Head, ...]:
    """The heads of a stack, in order."""
    return tuple(
        Head(number, head)
        for number, count in zip(stack.numbers, stack.heads, strict=True)
        for head in range(count)
    )


def distributions(stack: StackProfile, rows: SampledRows) -> Floats:
    """The smoothed rows of every head, float32 [heads, rows, keys]; 0 beyond a row's keys."""
    weights = rows.weights[stack.exists]
    inside = np.arange(weights.shape[2]) < rows.keys[:, None]
    uniform = inside / rows.keys[:, None]
    smoothed: Floats = (1 - _SMOOTHING) * weights + (_SMOOTHING * uniform).astype(np.float32)
    return smoothed


def distances_between(a: Floats, b: Floats) -> Numbers:
    """The mean Jensen-Shannon divergence over rows of distributions: float64 [heads, heads].

    It is the entropy of the mean of two distributions, less the mean of their entropies.
    """
    of_a, of_b = _entropy(a), _entropy(b)
    distances = np.empty((len(a), len(b)))
    for row, (distribution, entropy) in enumerate(zip(a, of_a, strict=True)):
        for part in groups(b):
            mixed = _entropy((distribution + b[part]) / 2)
            distances[row, part] = mixed - (entropy + of_b[part]) / 2
    means: Numbers = np.maximum(distances / a.shape[1], 0)
    return means


def _entropy(distributions: Floats) -> Numbers:
    """The sum over rows of entropies, float64 [heads]."""
    logs = np.log(np.maximum(distributions, np.finfo(np.float32).tiny))
    products: Numbers = np.einsum("hrk,hrk->hr", distributions, logs).sum(axis=1, dtype=np.float64)
    return -products
